#include "family_models.hpp"

// PP-YOLOE and PicoDet as PaddleDetection exports them, encoded from known boxes.
namespace saccade::test {
namespace {

constexpr std::int64_t kThreeLevels = 20 * 16 + 10 * 8 + 5 * 4;  // of strides 8, 16, 32 in 160x128 pixels
constexpr std::int64_t kFourLevels = kThreeLevels + 3 * 2;       // and 64, rounded up

/// Boxes [1, A, 4] in the model's pixels and logits [1, 80, A] of ROWS anchors.
struct PaddleBoxes {
  Tensor boxes;
  Tensor logits;

  explicit PaddleBoxes(std::int64_t rows) : boxes(filled({1, rows, 4}, 0)), logits(filled({1, 80, rows}, -9)) {
    for (std::size_t i = 0; i < kThings.size(); ++i) {
      const std::int64_t row = rows - 1 - static_cast<std::int64_t>(100 * i);
      for (std::int64_t k = 0; k < 4; ++k) at(boxes, {0, row, k}) = kThings[i].box[static_cast<std::size_t>(k)];
      at(logits, {0, kThings[i].class_id, row}) = logit(kThings[i].score);
    }
  }
};

/// The model divides boxes by scale_factor (y, x).
Graph without_nms(std::int64_t rows) {
  const PaddleBoxes known(rows);
  FamilyModel model(kInputShape, "image");
  GraphBuilder& b = model.builder();
  const ValueId factor =
      b.op("Gather", {b.input("scale_factor", {1, 2}), b.ints({1, 0, 1, 0})}, {{"axis", std::int64_t{1}}});
  model.gives("tmp_16", b.op("Div", {model.constant(known.boxes), factor}));
  return model.gives("concat_14.tmp_0", known.logits, "Sigmoid").build();
}

TEST(Ppyoloe, ReadsBoxesAndScores) {
  const Found found = find_in(without_nms(kThreeLevels));
  expect_found(found, "ppyoloe", kThings);
  EXPECT_EQ(found.card.resize, ResizeMode::kStretch);
  EXPECT_EQ(found.card.mean[0], 0);
  ASSERT_FALSE(found.card.assumptions.empty());
  EXPECT_NE(found.card.assumptions[0].find("PP-YOLOE+"), std::string::npos) << found.card.assumptions[0];
}

TEST(PicoDet, ReadsBoxesAndScores) {
  const Found found = find_in(without_nms(kFourLevels));
  expect_found(found, "picodet", kThings);
  EXPECT_NEAR(found.card.mean[0], 0.485, 1e-6);
}

/// Rows class, score, box of N objects, of which three are there, after an NMS of ANCHORS.
Graph with_nms(std::int64_t anchors, bool cut) {
  const std::int64_t rows = 100;
  Tensor selected = filled({rows, 6}, 0.99F);  // what must not be read
  for (std::size_t i = 0; i < kThings.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    at(selected, {row, 0}) = static_cast<float>(kThings[i].class_id);
    at(selected, {row, 1}) = kThings[i].score;
    for (std::int64_t k = 0; k < 4; ++k) at(selected, {row, 2 + k}) = kThings[i].box[static_cast<std::size_t>(k)];
  }
  FamilyModel model(kInputShape, "image");
  GraphBuilder& b = model.builder();
  b.input("im_shape", {1, 2});
  b.input("scale_factor", {1, 2});
  const PaddleBoxes known(anchors);
  const ValueId kept = b.op("NonMaxSuppression", {model.constant(known.boxes), model.constant(known.logits),
                                                  b.ints({1}), b.scalar(0.5F), b.scalar(0)});
  const ValueId none = b.op(
      "Mul", {b.op("Cast", {b.op("ReduceMax", {kept}, {{"keepdims", std::int64_t{0}}})}, {{"to", std::int64_t{1}}}),
              b.scalar(0)});
  Tensor count(DType::kInt32, {1});
  count.data<std::int32_t>()[0] = 3;
  model.gives("multiclass_nms3_0.tmp_0", b.op("Add", {model.constant(selected), none}));
  model.gives("multiclass_nms3_0.tmp_2", count);
  if (cut) model.cut({{0, 0}}, 3);
  return model.build();
}

TEST(PpyoloeEndToEnd, ReadsAsManyRowsAsThereAre) {
  for (const bool cut : {false, true}) {
    const Found found = find_in(with_nms(kThreeLevels, cut));
    expect_found(found, "ppyoloe-e2e", kThings);
    EXPECT_EQ(found.card.mean[0], 0);
  }
}

TEST(PicoDetEndToEnd, IsKnownByItsFourthLevel) {
  const Found found = find_in(with_nms(kFourLevels, false));
  expect_found(found, "picodet-e2e", kThings);
  EXPECT_NEAR(found.card.mean[0], 0.485, 1e-6);
}

/// YOLOv3 of PaddleDetection gives the same rows, and has other preprocessing.
TEST(PpyoloeEndToEnd, IsNotGuessedFromItsRows) {
  const Graph model = with_nms(3 * kThreeLevels, false);
  EXPECT_EQ(recognised(model), "");
  expect_found(find_in(model, "[output]\ndecoder = \"ppyoloe-e2e\"\n"), "ppyoloe-e2e", kThings);
}

}  // namespace
}  // namespace saccade::test
