#include <numbers>

#include "family_models.hpp"
#include "vision/text_boxes.hpp"

// Text detection by DB's formulas.
namespace saccade::test {
namespace {

/// Sets the cells of MAP, COLUMNS wide, whose centres are inside BOX to VALUE.
void fill_box(std::span<float> map, int columns, const OrientedBox& box, float value) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    const float x = static_cast<float>(static_cast<int>(i) % columns) + 0.5F - box.x;
    const float y = static_cast<float>(static_cast<int>(i) / columns) + 0.5F - box.y;
    const float across = x * std::cos(box.angle) + y * std::sin(box.angle);
    const float down = y * std::cos(box.angle) - x * std::sin(box.angle);
    if (std::abs(across) <= box.width / 2 && std::abs(down) <= box.height / 2) map[i] = value;
  }
}

/// What is found between the centres of the outer cells, enlarged by the ratio: a cell less on each side before it.
OrientedBox enlarged(OrientedBox box, float ratio) {
  box.width -= 1;
  box.height -= 1;
  const float grown = box.width * box.height * ratio / (box.width + box.height);
  box.width += grown;
  box.height += grown;
  return box;
}

void expect_corners(const OrientedBox& found, const OrientedBox& known, float tolerance) {
  const auto a = found.corners();
  const auto b = known.corners();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i << " of " << known.angle;
}

std::vector<TextBox> boxes_in(std::span<const float> map, int columns, const TextBoxOptions& options = {}) {
  TextBoxFinder finder;
  const auto found = finder.find(map, columns, options);
  return {found.begin(), found.end()};
}

TEST(TextBoxes, AreRecoveredAtEveryAngle) {
  for (int degrees = -44; degrees < 135; degrees += 7) {
    const float angle = static_cast<float>(degrees) * std::numbers::pi_v<float> / 180;
    const OrientedBox line = {100.2F, 90.7F, 110, 24, angle};
    std::vector<float> map(200 * 180);
    fill_box(map, 200, line, 0.9F);
    const std::vector<TextBox> found = boxes_in(map, 200);
    ASSERT_EQ(found.size(), 1U) << degrees;
    // The drawn border holds cells that are not text.
    EXPECT_GT(found[0].confidence, 0.8F) << degrees;
    expect_corners(along_text(found[0].box), enlarged(line, 1.5F), 1.5F);
  }
}

TEST(TextBoxes, OfCellsAreExactAndGrowByTheRatio) {
  std::vector<float> map(64 * 32);
  fill_box(map, 64, {30, 16, 40, 8, 0}, 0.75F);
  for (const float ratio : {0.0F, 1.5F, 2.0F}) {
    const std::vector<TextBox> found = boxes_in(map, 64, {.unclip_ratio = ratio});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FLOAT_EQ(found[0].confidence, 0.75F);
    expect_corners(along_text(found[0].box), enlarged({30, 16, 40, 8, 0}, ratio), 1e-3F);
  }
}

TEST(TextBoxes, ComeInTheOrderOfTheirConfidence) {
  std::vector<float> map(100 * 100);
  fill_box(map, 100, {50, 20, 60, 10, 0}, 0.7F);
  fill_box(map, 100, {50, 50, 60, 10, 0}, 0.9F);
  fill_box(map, 100, {50, 80, 60, 10, 0}, 0.5F);  // less than the threshold of boxes
  const std::vector<TextBox> found = boxes_in(map, 100);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FLOAT_EQ(found[0].box.y, 50);
  EXPECT_FLOAT_EQ(found[1].box.y, 20);
  EXPECT_EQ(boxes_in(map, 100, {.confidence = 0.45F}).size(), 3U);
  EXPECT_TRUE(boxes_in(map, 100, {.map_threshold = 0.9F}).empty());
}

TEST(TextBoxes, AtTheBordersAndOfTheWholeMap) {
  std::vector<float> map(40 * 30);
  fill_box(map, 40, {0, 0, 40, 20, 0}, 1);
  const std::vector<TextBox> found = boxes_in(map, 40, {.unclip_ratio = 0});
  ASSERT_EQ(found.size(), 1U);
  expect_corners(along_text(found[0].box), {10, 5, 19, 9, 0}, 1e-3F);
  std::ranges::fill(map, 1.0F);
  const std::vector<TextBox> whole = boxes_in(map, 40, {.unclip_ratio = 0});
  ASSERT_EQ(whole.size(), 1U);
  expect_corners(along_text(whole[0].box), {20, 15, 39, 29, 0}, 1e-3F);
}

TEST(TextBoxes, DiagonalNeighboursAreOneComponent) {
  // Two squares that touch at a corner; apart, when a column is between them.
  for (const int gap : {0, 1}) {
    std::vector<float> map(40 * 20);
    fill_box(map, 40, {8, 5, 8, 8, 0}, 1);
    fill_box(map, 40, {16.0F + static_cast<float>(gap), 13, 8, 8, 0}, 1);
    EXPECT_EQ(boxes_in(map, 40, {.confidence = 0.4F}).size(), gap == 0 ? 1U : 2U);
  }
}

TEST(TextBoxes, JoinRunsThatMeetLater) {
  // A comb: its teeth are runs of their own until the last row.
  std::vector<float> map(32 * 16);
  for (std::size_t x = 2; x < 30; x += 4)
    for (std::size_t y = 2; y < 14; ++y) map[y * 32 + x] = 1;
  for (std::size_t x = 2; x < 27; ++x) map[13 * 32 + x] = 1;
  const std::vector<TextBox> found = boxes_in(map, 32, {.confidence = 0, .unclip_ratio = 0});
  ASSERT_EQ(found.size(), 1U);
  expect_corners(along_text(found[0].box), {14.5F, 8, 24, 11, 0}, 1e-3F);
}

TEST(TextBoxes, NoneOfThinLinesPointsAndNothing) {
  std::vector<float> map(40 * 20);
  EXPECT_TRUE(boxes_in(map, 40).empty());
  map[45] = 1;
  fill_box(map, 40, {20, 10.5F, 30, 3, 0}, 1);  // 2 between the centres
  EXPECT_TRUE(boxes_in(map, 40).empty());
  fill_box(map, 40, {20, 10, 30, 4, 0}, 1);
  EXPECT_EQ(boxes_in(map, 40).size(), 1U);
  EXPECT_TRUE(boxes_in(map, 40, {.unclip_ratio = 0}).empty());  // 3, but below 5
}

TEST(TextBoxes, ANanIsNoTextAndAFault) {
  std::vector<float> map(40 * 20);
  fill_box(map, 40, {20, 10, 30, 8, 0}, 0.8F);
  TextBoxFinder finder;
  EXPECT_EQ(finder.find(map, 40, {}).size(), 1U);
  EXPECT_FALSE(finder.faults().any());
  map[0] = NAN;
  EXPECT_EQ(finder.find(map, 40, {}).size(), 1U);
  EXPECT_TRUE(finder.faults().has(Fault::kNanConfidence));
  map[0] = 0;
  EXPECT_EQ(finder.find(map, 40, {}).size(), 1U);
  EXPECT_FALSE(finder.faults().any());
}

TEST(TextBoxes, LieAlongTheLine) {
  constexpr float kQuarter = std::numbers::pi_v<float> / 2;
  const auto expect = [](const OrientedBox& box, float width, float angle) {
    const OrientedBox turned = along_text(box);
    EXPECT_FLOAT_EQ(turned.width, width);
    EXPECT_NEAR(turned.angle, angle, 1e-5F);
  };
  expect({0, 0, 40, 10, 0.1F}, 40, 0.1F);
  expect({0, 0, 10, 40, 0.1F - kQuarter}, 40, 0.1F);
  expect({0, 0, 40, 10, 0.1F + 2 * kQuarter}, 40, 0.1F);
  // Upright: from the top to the bottom, unless it is nearly square.
  expect({0, 0, 10, 40, 0.1F}, 40, 0.1F + kQuarter);
  expect({0, 0, 10, 14, 0.1F}, 10, 0.1F);
}

constexpr const char* kMapCard = "[output]\ndecoder = \"db\"\n";

TEST(TextDetection, GivesOrientedBoxesOnTheFrame) {
  Tensor map = filled({1, 1, 128, 160}, 0);
  const OrientedBox line = {80, 60, 90, 20, 0.3F};
  fill_box(map.data<float>(), 160, line, 0.9F);
  const Found found = find_in(FamilyModel(kInputShape).gives("map", map).build(), kMapCard);
  EXPECT_EQ(found.card.task(), Task::kOriented);
  EXPECT_EQ(found.card.color, ChannelOrder::kBgr);
  ASSERT_EQ(found.detections().size(), 1U);
  const Detection& text = found.detections()[0];
  EXPECT_EQ(text.class_name, "text");
  OrientedBox known = enlarged(line, 1.5F);
  for (float* number : {&known.x, &known.y, &known.width, &known.height}) *number *= 2;  // the frame's size
  expect_corners(text.oriented.value(), known, 3);
  EXPECT_TRUE(find_in(FamilyModel(kInputShape).gives("map", map).build(), kMapCard, {.confidence = 0.95F})
                  .detections()
                  .empty());
}

TEST(TextDetection, TakesItsParametersFromTheCard) {
  Tensor map = filled({1, 1, 64, 80}, 0);  // a quarter of the image's cells
  fill_box(map.data<float>(), 80, {40, 32, 40, 10, 0}, 0.25F);
  const Graph model = FamilyModel(kInputShape).gives("map", map).build();
  EXPECT_TRUE(find_in(model, kMapCard).detections().empty());
  const Found found = find_in(model, std::string(kMapCard) + "map_threshold = 0.2\nconf = 0.2\nunclip_ratio = 0\n");
  ASSERT_EQ(found.detections().size(), 1U);
  const OrientedBox box = found.detections()[0].oriented.value();
  EXPECT_NEAR(box.width, 4 * 39, 1e-3F);
  EXPECT_NEAR(box.x, 160, 1e-3F);
  // It is printed, and read again.
  const std::string text = to_toml(found.card);
  const Found again = find_in(model, text);
  EXPECT_EQ(to_toml(again.card), text);
  EXPECT_EQ(again.detections().size(), 1U);
}

TEST(TextDetection, KeepsTheMostConfident) {
  Tensor map = filled({1, 1, 128, 160}, 0);
  for (int i = 0; i < 4; ++i)
    fill_box(map.data<float>(), 160, {80, 20.0F + 28 * static_cast<float>(i), 90, 10, 0},
             0.7F + 0.05F * static_cast<float>(i));
  const Found found = find_in(FamilyModel(kInputShape).gives("map", map).build(), kMapCard, {.max_detections = 2});
  ASSERT_EQ(found.detections().size(), 2U);
  EXPECT_NEAR(found.detections()[0].confidence, 0.85F, 1e-5F);
  EXPECT_NEAR(found.detections()[1].confidence, 0.8F, 1e-5F);
}

}  // namespace
}  // namespace saccade::test
