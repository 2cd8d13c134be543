#include "chosen_lists.hpp"

// torchvision's detectors, as exported by torch.
namespace saccade::test {
namespace {

/// A detector of torchvision in its exporter's form.
struct Torchvision {
  std::optional<Shape> masks;
  Shape input_shape = kInputShape;
  std::array<const char*, 4> names = {"boxes", "labels", "scores", "masks"};
  std::string shares = "Softmax";  ///< the activation of the regions' scores
  Shape regions = {1000, 91};
  std::array<std::int64_t, 3> numbers = {3, 1, 90};  ///< of the objects' classes

  Graph build() const;
};

constexpr std::array<const char*, 4> kNumbers = {"boxes.55", "onnx::Shape_2525", "2524", "3122"};

/// The left half of every object, on the image or on its box.
Tensor left_halves(const Shape& shape) {
  Tensor masks = filled(shape, 0.1F);
  const bool pasted = shape[3] == 160;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::int64_t y = 0; y < shape[2]; ++y)
      for (std::int64_t x = 0; x < shape[3]; ++x) {
        const Known& thing = kThings[i];
        const auto at_x = static_cast<float>(x) + 0.5F;
        const auto at_y = static_cast<float>(y) + 0.5F;
        const bool inside = at_x > thing.box[0] && at_x < thing.x() && at_y > thing.box[1] && at_y < thing.box[3];
        if (pasted ? inside : 2 * x < shape[3]) at(masks, {static_cast<std::int64_t>(i), 0, y, x}) = 0.9F;
      }
  return masks;
}

Graph Torchvision::build() const {
  FamilyModel model(input_shape, "input");
  model.gives(names[0], boxes({100, 4}, {0, 1, 2, 3}, 1, 1));
  GraphBuilder& b = model.builder();
  const ValueId class_scores = b.op(shares, {model.constant(filled(regions, 0))});
  const ValueId nothing =
      b.op("Mul", {b.op("ReduceMax", {class_scores}, {{"keepdims", std::int64_t{0}}}), b.scalar(0)});
  model.gives(names[1], labels<std::int64_t>({100}, numbers));
  if (masks) model.gives(names[3], left_halves(*masks));
  model.gives(names[2], b.op("Add", {model.constant(scores({100}, 0.99F)), nothing}));
  std::vector<std::pair<std::size_t, int>> cut = {{0, 0}, {1, 0}, {2, 0}};
  if (masks) cut.emplace_back(3, 0);
  return model.cut(cut, 3).build();
}

TEST(Torchvision, ReadsAsManyAsThereAre) {
  const Found found = find_in(Torchvision{}.build());
  expect_found(found, "torchvision", kThings);
  ASSERT_EQ(found.detections().size(), 3U);
  EXPECT_EQ(found.detections()[0].class_name, "car");
}

TEST(Torchvision, TakesAnImageWithoutABatchDimension) {
  expect_found(find_in(Torchvision{.input_shape = {3, 128, 160}}.build()), "torchvision", kThings);
}

TEST(Torchvision, IsKnownByWhatItsNumberedOutputsHold) {
  expect_found(find_in(Torchvision{.names = kNumbers}.build()), "torchvision", kThings);
  // Without a softmax over regions the first class may not be the background.
  const Graph other = Torchvision{.names = kNumbers, .shares = "Sigmoid"}.build();
  EXPECT_EQ(recognised(other), "");
  expect_found(find_in(other, "[output]\ndecoder = \"torchvision\"\n"), "torchvision", kThings);
}

TEST(Torchvision, MapsCocosNumbersWhateverMakesItsScores) {
  // SSD's, and those of RetinaNet and FCOS.
  expect_found(find_in(Torchvision{.regions = {1, 1000, 91}}.build()), "torchvision", kThings);
  expect_found(find_in(Torchvision{.shares = "Sigmoid"}.build()), "torchvision", kThings);
}

TEST(Torchvision, HasABackgroundThatLabelsMayLeaveOut) {
  const Graph model = Torchvision{.regions = {1000, 3}, .numbers = {2, 1, 2}}.build();
  const auto found_under = [&](const std::string& labels) { return find_in(model, "[output]\n" + labels + "\n"); };
  std::vector<Known> things = kThings;
  for (std::size_t i = 0; i < 3; ++i) things[i].class_id = i == 1 ? 0 : 1;
  expect_found(found_under("decoder = \"torchvision\"\nlabels = [\"cat\", \"dog\"]"), "torchvision", things);
  const Found without = found_under("labels = [\"cat\", \"dog\"]");
  expect_found(without, "torchvision", things);
  ASSERT_EQ(without.detections().size(), 3U);
  EXPECT_EQ(without.detections()[1].class_name, "cat");
  for (Known& thing : things) ++thing.class_id;
  const Found with = found_under("labels = [\"background\", \"cat\", \"dog\"]");
  expect_found(with, "torchvision", things);
  ASSERT_EQ(with.detections().size(), 3U);
  EXPECT_EQ(with.detections()[1].class_name, "cat");
  EXPECT_THROW(found_under("labels = [\"cat\"]"), Error);
  EXPECT_THROW(found_under("remap = [0, 1]"), Error);
  EXPECT_EQ(found_under("remap = [-1, -1, 0]").detections().size(), 2U);
}

TEST(MaskRcnn, ReadsMasksOnTheirBoxes) {
  for (const auto& names : {Torchvision{}.names, kNumbers}) {
    const Found found = find_in(Torchvision{.masks = Shape{100, 1, 28, 28}, .names = names}.build());
    expect_found(found, "mask-rcnn", kThings);
    ASSERT_EQ(found.areas.size(), 3U);
    EXPECT_NEAR(static_cast<double>(found.areas[1]), 50 * 120, 130);
  }
}

TEST(MaskRcnn, ReadsMasksOfTheWholeImage) {
  for (const auto& names : {Torchvision{}.names, kNumbers}) {
    const Found found = find_in(Torchvision{.masks = Shape{100, 1, 128, 160}, .names = names}.build());
    expect_found(found, "mask-rcnn", kThings);
    // In pixels of a frame of twice the size, cells whose centres are in the left half of the box.
    const std::array<std::array<int, 4>, 3> halves = {{{20, 40, 40, 88}, {120, 60, 170, 180}, {40, 120, 170, 244}}};
    ASSERT_EQ(found.runs.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [left, top, right, bottom] = halves[i];
      ASSERT_EQ(found.runs[i].size(), static_cast<std::size_t>(bottom - top)) << i;
      for (std::size_t row = 0; row < found.runs[i].size(); ++row) {
        EXPECT_EQ(found.runs[i][row].y, top + static_cast<int>(row)) << i;
        EXPECT_EQ(found.runs[i][row].x1, left) << i;
        EXPECT_EQ(found.runs[i][row].x2, right) << i;
      }
    }
  }
}

TEST(MaskRcnn, RefusesMasksThatMayLieAnywhere) {
  for (const Shape& masks : {Shape{100, 1, 64, 80}, {100, 1, 200, 200}, {100, 2, 28, 28}, {50, 1, 28, 28}}) {
    const Graph model = Torchvision{.masks = masks}.build();
    EXPECT_EQ(recognised(model), "") << masks.to_string();
    EXPECT_THROW(find_in(model, "[output]\ndecoder = \"mask-rcnn\"\n"), Error) << masks.to_string();
  }
}

}  // namespace
}  // namespace saccade::test
