#include "family_models.hpp"

// Heads with one row per anchor or cell, without selection in the model, encoded from known boxes.
namespace saccade::test {
namespace {

/// EfficientDet's input image, with its anchors: x, y, width, height.
struct EfficientDetInput {
  int width = 640;
  int height = 512;
  float scale = 4;  ///< of anchors, in cells

  std::vector<std::array<float, 4>> anchors() const {
    std::vector<std::array<float, 4>> anchors;
    for (const int stride : {8, 16, 32, 64, 128}) {
      const int columns = (width + stride - 1) / stride;
      const int rows = (height + stride - 1) / stride;
      const float across = static_cast<float>(width) / static_cast<float>(columns);
      const float down = static_cast<float>(height) / static_cast<float>(rows);
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
          for (const float octave : {1.0F, std::cbrt(2.0F), std::cbrt(4.0F)})
            for (const auto& [wide, high] : {std::pair{1.0F, 1.0F}, {1.4F, 0.7F}, {0.7F, 1.4F}})
              anchors.push_back({(static_cast<float>(x) + 0.5F) * across, (static_cast<float>(y) + 0.5F) * down,
                                 scale * octave * across * wide, scale * octave * down * high});
    }
    return anchors;
  }
};

/// Logits of CLASSES, and boxes, of all anchors; the objects' classes are PLACES.
struct EfficientDetRows {
  Tensor logits;
  Tensor boxes;
};
EfficientDetRows efficientdet_rows(const EfficientDetInput& input = {}, std::int64_t classes = 90,
                                   std::array<std::int64_t, 3> places = {2, 0, 89}) {
  const auto anchors = input.anchors();
  const auto count = static_cast<std::int64_t>(anchors.size());
  EfficientDetRows rows{filled({1, count, classes}, logit(0.01F)), filled({1, count, 4}, 0)};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t row = i * (anchors.size() / 2 - 10) + 7;  // the last one on the coarsest level
    const auto [x, y, width, height] = anchors[row];
    const Known& thing = kThings[i];
    const auto place = static_cast<std::int64_t>(row);
    at(rows.boxes, {0, place, 0}) = (thing.y() - y) / height;
    at(rows.boxes, {0, place, 1}) = (thing.x() - x) / width;
    at(rows.boxes, {0, place, 2}) = std::log(thing.height() / height);
    at(rows.boxes, {0, place, 3}) = std::log(thing.width() / width);
    at(rows.logits, {0, place, places[i]}) = logit(thing.score);
  }
  return rows;
}

TEST(EfficientDet, ReadsScoresAndBoxesOfItsAnchors) {
  const auto [logits, boxes] = efficientdet_rows();
  const Shape input_shape{1, 3, 512, 640};
  FamilyModel model(input_shape, "input");
  model.gives("regression", boxes).gives("classification", logits, "Sigmoid");
  model.gives("anchors", filled(boxes.shape(), 0));
  const Found found = find_in(model.build());
  expect_found(found, "efficientdet", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[2].class_name, "toothbrush");
  expect_found(find_in(FamilyModel(input_shape, "input").gives("box", boxes).gives("class", logits).build()),
               "efficientdet", kThings);
}

/// Rows from BEGIN on as a level of NUMBERS per row: channels first, or last.
Tensor level_of(const Tensor& rows, std::int64_t begin, std::int64_t height, std::int64_t width, bool last) {
  const std::int64_t numbers = rows.shape()[2];
  const std::int64_t channels = 9 * numbers;
  Tensor level = filled(last ? Shape{1, height, width, channels} : Shape{1, channels, height, width}, 0);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t row = begin + 9 * (y * width + x) + c / numbers;
        const float value = rows.data<float>()[static_cast<std::size_t>(row * numbers + c % numbers)];
        (last ? at(level, {0, y, x, c}) : at(level, {0, c, y, x})) = value;
      }
  return level;
}

TEST(EfficientDet, ReadsLevelsAsTheirConvolutionsLeaveThem) {
  const auto [logits, boxes] = efficientdet_rows();
  for (const bool last : {false, true}) {
    FamilyModel model(last ? Shape{1, 512, 640, 3} : Shape{1, 3, 512, 640}, "input");
    for (const Tensor& rows : {logits, boxes}) {
      std::int64_t begin = 0;
      for (const int stride : {8, 16, 32, 64, 128}) {
        const std::int64_t height = 512 / stride;
        const std::int64_t width = 640 / stride;
        model.gives((rows.shape()[2] == 4 ? "box_" : "class_") + std::to_string(stride),
                    level_of(rows, begin, height, width, last));
        begin += 9 * height * width;
      }
    }
    expect_found(find_in(model.build()), "efficientdet", kThings);
  }
}

/// automl's Lite models: cells divide the image evenly, anchors are smaller. They have other preprocessing, so that
/// they need a card.
TEST(EfficientDet, ReadsSmallImagesUnderACard) {
  const auto [logits, boxes] = efficientdet_rows({.width = 320, .height = 320, .scale = 3});
  FamilyModel model({1, 3, 320, 320}, "input");
  const Graph graph = model.gives("box", boxes).gives("class", logits).build();
  EXPECT_EQ(recognised(graph), "");
  expect_found(find_in(graph, "[output]\ndecoder = \"efficientdet\"\n"), "efficientdet", kThings);
}

TEST(EfficientDet, HasLargerAnchorsInTheLargestInput) {
  const auto [logits, boxes] = efficientdet_rows({.width = 1536, .height = 1536, .scale = 5}, 2, {1, 0, 1});
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = std::min(thing.class_id, 1);
  FamilyModel model({1, 3, 1536, 1536}, "input");
  expect_found(find_in(model.gives("regression", boxes).gives("classification", logits).build()), "efficientdet",
               things);
}

/// A distance as logits of a distribution over eight integers, two of which have it as their mean.
std::array<float, 8> distribution(float distance) {
  std::array<float, 8> logits{};
  for (std::size_t bin = 0; bin < 8; ++bin) {
    const float share = 1 - std::abs(distance - static_cast<float>(bin));
    logits[bin] = share > 0 ? std::log(share) : -30;
  }
  return logits;
}

/// An identity convolution.
ValueId behind_convolution(FamilyModel& model, Tensor tensor) {
  const std::int64_t channels = tensor.shape()[1];
  Tensor kernel = filled({channels, channels, 1}, 0);
  for (std::int64_t c = 0; c < channels; ++c) at(kernel, {c, c, 0}) = 1;
  return model.builder().op("Conv", {model.constant(std::move(tensor)), model.constant(std::move(kernel))});
}

/// A level's logits of classes [1, C, cells] and of the sides' distributions [1, 32, cells].
struct NanodetLevel {
  Tensor scores;
  Tensor sides;
};

/// Object i on level i. OFFSET: of a cell's point from its corner, in strides. The levels are rounded up: 17, 9, 5 and
/// 3 rows.
std::vector<NanodetLevel> nanodet_levels(const std::vector<int>& strides, float offset, int classes) {
  std::vector<NanodetLevel> levels;
  for (std::size_t level = 0; level < strides.size(); ++level) {
    const auto size = static_cast<float>(strides[level]);
    const std::int64_t columns = (160 + strides[level] - 1) / strides[level];
    const std::int64_t cells = columns * ((132 + strides[level] - 1) / strides[level]);
    Tensor scores = filled({1, classes, cells}, logit(0.01F));
    Tensor sides = filled({1, 32, cells}, 0);
    if (level < kThings.size()) {
      const Known& thing = kThings[level];
      const auto x = static_cast<std::int64_t>(thing.x() / size);
      const auto y = static_cast<std::int64_t>(thing.y() / size);
      const std::int64_t cell = y * columns + x;
      const float at_x = (static_cast<float>(x) + offset) * size;
      const float at_y = (static_cast<float>(y) + offset) * size;
      const std::array<float, 4> distances = {at_x - thing.box[0], at_y - thing.box[1], thing.box[2] - at_x,
                                              thing.box[3] - at_y};
      for (std::int64_t side = 0; side < 4; ++side)
        for (std::int64_t bin = 0; bin < 8; ++bin)
          at(sides, {0, 8 * side + bin, cell}) =
              distribution(distances[static_cast<std::size_t>(side)] / size)[static_cast<std::size_t>(bin)];
      at(scores, {0, std::min(thing.class_id, classes - 1), cell}) = logit(thing.score);
    }
    levels.push_back({std::move(scores), std::move(sides)});
  }
  return levels;
}

ValueId as_rows(GraphBuilder& b, ValueId columns) {
  return b.op("Transpose", {columns}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
}

Graph nanodet(const std::vector<int>& strides, float offset, int classes) {
  FamilyModel model({1, 3, 132, 160}, "data");
  GraphBuilder& b = model.builder();
  std::vector<ValueId> levels;
  for (const auto& [scores, sides] : nanodet_levels(strides, offset, classes))
    levels.push_back(b.op("Concat", {b.op("Sigmoid", {model.constant(scores)}), behind_convolution(model, sides)},
                          {{"axis", std::int64_t{1}}}));
  return model.gives("output", as_rows(b, b.op("Concat", levels, {{"axis", std::int64_t{2}}}))).build();
}

/// Separate outputs per level, pair by pair or all scores first. CLS and DIS are followed by the stride.
Graph nanodet_apart(const std::vector<int>& strides, float offset, bool pairs, const std::string& cls,
                    const std::string& dis, int classes = 80, const std::string& image = "input.1") {
  FamilyModel model({1, 3, 132, 160}, image);
  GraphBuilder& b = model.builder();
  const std::vector<NanodetLevel> levels = nanodet_levels(strides, offset, classes);
  const auto give_scores = [&](std::size_t i) {
    model.gives(cls + std::to_string(strides[i]), as_rows(b, b.op("Sigmoid", {model.constant(levels[i].scores)})));
  };
  const auto give_sides = [&](std::size_t i) {
    model.gives(dis + std::to_string(strides[i]), as_rows(b, model.constant(levels[i].sides)));
  };
  for (std::size_t i = 0; i < levels.size(); ++i) {
    give_scores(i);
    if (pairs) give_sides(i);
  }
  for (std::size_t i = 0; i < levels.size() && !pairs; ++i) give_sides(i);
  return model.build();
}

TEST(Nanodet, ReadsItsThreeLevelsFromTheirMiddles) {
  const Found found = find_in(nanodet({8, 16, 32}, 0.5F, 80));
  expect_found(found, "nanodet", kThings);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
}

TEST(Nanodet, ReadsPlusFourLevelsFromTheirCorners) {
  expect_found(find_in(nanodet({8, 16, 32, 64}, 0, 80)), "nanodet", kThings);
}

TEST(Nanodet, IsDistinguishedFromYoloxByTheBackbone) {
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = std::min(thing.class_id, 2);
  expect_found(find_in(nanodet({8, 16, 32}, 0.5F, 3)), "nanodet", things);
}

TEST(Nanodet, ReadsLevelsInOutputsOfTheirOwn) {
  for (const bool pairs : {true, false}) {
    const Found found = find_in(nanodet_apart({8, 16, 32}, 0.5F, pairs, "cls_pred_stride_", "dis_pred_stride_"));
    expect_found(found, "nanodet", kThings);
    EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
    EXPECT_EQ(found.card.mean[0], 103.53F);
    expect_found(find_in(nanodet_apart({8, 16, 32, 64}, 0, pairs, "cls_pred_stride_", "dis_pred_stride_")), "nanodet",
                 kThings);
    expect_found(find_in(nanodet_apart({8, 16, 32}, 0.5F, pairs, "78", "79")), "nanodet", kThings);
  }
  expect_found(find_in(nanodet_apart({8, 16, 32, 64}, 0, true, "78", "79")), "nanodet", kThings);
}

/// As many classes as distribution columns: distinguished by name, else by the card's order.
TEST(Nanodet, DistinguishesScoresFromSidesOfTheSameWidth) {
  std::vector<Known> things = kThings;
  for (Known& thing : things) thing.class_id = std::min(thing.class_id, 31);
  expect_found(find_in(nanodet_apart({8, 16, 32}, 0.5F, true, "cls_pred_stride_", "dis_pred_stride_", 32)), "nanodet",
               things);
  const Graph nameless = nanodet_apart({8, 16, 32}, 0.5F, true, "78", "79", 32);
  EXPECT_EQ(recognised(nameless), "");
  expect_found(find_in(nameless,
                       "[output]\ndecoder = \"nanodet\"\n"
                       "name = [\"788\", \"7816\", \"7832\", \"798\", \"7916\", \"7932\"]\n"),
               "nanodet", things);
}

/// PicoDet has all scores first on four levels, and other preprocessing and points.
TEST(Nanodet, IsNotGuessedWherePicoDetLooksAlike) {
  const Graph model = nanodet_apart({8, 16, 32, 64}, 0, false, "78", "79");
  EXPECT_EQ(recognised(model), "");
  expect_found(find_in(model, "[output]\ndecoder = \"nanodet\"\n"), "nanodet", kThings);
}

TEST(PicoDetHeads, ReadsItsFourLevelsFromTheirMiddles) {
  const Graph model = nanodet_apart({8, 16, 32, 64}, 0.5F, false, "78", "79", 80, "image");
  const Found found = find_in(model);
  expect_found(found, "picodet-heads", kThings);
  EXPECT_EQ(found.card.color, ChannelOrder::kRgb);
  EXPECT_NEAR(found.card.mean[0], 0.485, 1e-6);
}

TEST(Ssd, LeavesOutTheBackground) {
  Tensor scores = filled({1, 3000, 21}, -20);
  Tensor boxes = filled({1, 3000, 4}, 0);
  std::vector<Known> things = kThings;
  things[2].class_id = 19;
  for (std::int64_t i = 0; i < 3000; ++i) at(scores, {0, i, 0}) = 20;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<std::int64_t>(900 * i + 3);
    at(scores, {0, row, 0}) = std::log(1 - things[i].score);
    at(scores, {0, row, 1 + things[i].class_id}) = std::log(things[i].score);
    for (std::int64_t k = 0; k < 4; ++k) at(boxes, {0, row, k}) = things[i].box[static_cast<std::size_t>(k)] / 300;
  }
  const Shape input_shape{1, 3, 300, 300};
  expect_found(
      find_in(FamilyModel(input_shape, "input_0").gives("scores", scores, "Softmax").gives("boxes", boxes).build()),
      "ssd", things);
  // Independent scores have no background.
  const Graph sigmoids =
      FamilyModel(input_shape, "input_0").gives("scores", scores, "Sigmoid").gives("boxes", boxes).build();
  EXPECT_THROW(find_in(sigmoids, "[output]\ndecoder = \"ssd\"\n"), Error);
  // Without the softmax the first column may be any class: the card must state it.
  EXPECT_EQ(recognised(FamilyModel(input_shape, "input_0").gives("scores", scores).gives("boxes", boxes).build()), "");
}

TEST(SsdPriors, ReadsBoxesByThePriorsThatItGives) {
  Tensor priors = filled({500, 4}, 0.2F);  // x, y, width, height
  Tensor boxes = filled({1, 500, 4}, 0);
  Tensor logits = filled({1, 500, 81}, -20);
  for (std::int64_t i = 0; i < 500; ++i) at(logits, {0, i, 0}) = 20;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<std::int64_t>(100 * i + 9);
    const Known& thing = kThings[i];
    const std::array<float, 4> prior = {0.3F, 0.4F, 0.25F, 0.5F};
    for (std::int64_t k = 0; k < 4; ++k) at(priors, {row, k}) = prior[static_cast<std::size_t>(k)];
    at(boxes, {0, row, 0}) = (thing.x() / 160 - prior[0]) / prior[2] / 0.1F;
    at(boxes, {0, row, 1}) = (thing.y() / 128 - prior[1]) / prior[3] / 0.1F;
    at(boxes, {0, row, 2}) = std::log(thing.width() / 160 / prior[2]) / 0.2F;
    at(boxes, {0, row, 3}) = std::log(thing.height() / 128 / prior[3]) / 0.2F;
    at(logits, {0, row, 0}) = std::log(1 - thing.score);
    at(logits, {0, row, 1 + thing.class_id}) = std::log(thing.score);
  }
  for (const bool softmax : {false, true}) {
    FamilyModel model(kInputShape, "input");
    model.gives("loc", boxes).gives("priors", priors);
    softmax ? model.gives("conf", logits, "Softmax") : model.gives("conf", logits);
    expect_found(find_in(model.build()), "ssd-priors", kThings);
  }
}

TEST(Depth, IsInverseWhereItsNameSaysSo) {
  const auto kind_of = [](const std::string& name, const std::string& card = "") {
    Tensor plane = filled({1, 1, 32, 32}, 2);
    at(plane, {0, 0, 0, 0}) = 1;
    return find_in(FamilyModel({1, 3, 32, 32}).gives(name, plane).build(), card).result.depth.kind;
  };
  EXPECT_EQ(kind_of("depth"), DepthKind::kRelative);
  EXPECT_EQ(kind_of("disp_0"), DepthKind::kInverse);
  EXPECT_EQ(kind_of("predicted_depth"), DepthKind::kInverse);
  EXPECT_EQ(kind_of("predicted_depth", "[output]\ndepth = \"metric\"\n"), DepthKind::kMetric);
  EXPECT_EQ(kind_of("disparity", "[output]\ndecoder = \"depth\"\ndepth = \"relative\"\n"), DepthKind::kRelative);
}

TEST(Classify, TakesASigmoidOfEachClass) {
  Tensor scores = filled({1, 5}, -4);
  at(scores, {0, 1}) = logit(0.9F);
  at(scores, {0, 3}) = logit(0.6F);
  const Found found = find_in(FamilyModel({1, 3, 64, 64}).gives("tags", scores).build(),
                              "[output]\ndecoder = \"classify\"\nsigmoid = true\nlabels = [\"a\", \"b\", \"c\", "
                              "\"d\", \"e\"]\n");
  ASSERT_EQ(found.result.classes.size(), 2U);
  EXPECT_EQ(found.result.classes[0].class_name, "b");
  EXPECT_NEAR(found.result.classes[0].confidence, 0.9, 1e-5);
  EXPECT_EQ(found.result.classes[1].class_name, "d");
}

}  // namespace
}  // namespace saccade::test
