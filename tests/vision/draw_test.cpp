#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/module.hpp"
#include "support/specials.hpp"
#include "vision/drawn_page.hpp"

namespace saccade {
namespace {

using test::kGray;
using test::Page;
using test::Rgb;

Result boxes(std::vector<Detection> detections) {
  Result result;
  result.detections = std::move(detections);
  return result;
}

TEST(Draw, ABoxHasItsLinesAndItsTagAbove) {
  Page page(640, 480);

  page.draw(boxes({{{100, 200, 300, 400}, 0, "person", 0.91F}}));

  const Rgb line = page.at(100, 300);
  EXPECT_NE(line, kGray);
  EXPECT_EQ(page.at(299, 300), line);
  EXPECT_EQ(page.at(200, 399), line);
  EXPECT_EQ(page.at(101, 190), line);   // the tag is filled with the box's colour
  EXPECT_EQ(page.at(200, 300), kGray);  // the inside is unchanged
  EXPECT_NE(page.at(99, 300), line);    // a dark rim
  EXPECT_LT(page.at(99, 300).r, kGray.r);
  EXPECT_EQ(page.at(98, 300), kGray);  // and the outside is unchanged, too
  EXPECT_EQ(page.at(301, 300), kGray);
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, TagsHaveLettersOnThem) {
  Page empty(640, 480);
  Page full(640, 480);

  empty.draw(boxes({{{100, 200, 300, 400}, 0, " ", 0.91F}}));
  full.draw(boxes({{{100, 200, 300, 400}, 0, "person", 0.91F}}));

  int light = 0;
  for (int y = 180; y < 200; ++y)
    for (int x = 100; x < 200; ++x) light += full.at(x, y) == Rgb{255, 255, 255} || full.at(x, y) == Rgb{0, 0, 0};
  EXPECT_GT(light, 20);
  EXPECT_GT(full.touched(), empty.touched());  // a longer name needs a longer tag
}

TEST(Draw, ATagAtTheUpperEdgeLiesInsideTheBox) {
  Page page(640, 480);

  page.draw(boxes({{{100, 0, 300, 400}, 3, "car", 0.5F}}));

  EXPECT_EQ(page.at(101, 8), page.at(100, 300));
}

TEST(Draw, ClassesHaveColoursOfTheirOwn) {
  Page page(640, 480);

  page.draw(
      boxes({{{50, 100, 150, 200}, 0, "a", 1}, {{250, 100, 350, 200}, 1, "b", 1}, {{450, 100, 550, 200}, 0, "c", 1}}));

  EXPECT_NE(page.at(50, 150), page.at(250, 150));
  EXPECT_EQ(page.at(50, 150), page.at(450, 150));
}

/// An object on a track, its centre at (X, 60).
Detection tracked(float x, std::int64_t id) {
  Detection object;
  object.box = {x - 10, 50, x + 10, 70};
  object.class_name = "car";
  object.confidence = 0.9F;
  object.track_id = id;
  return object;
}

TEST(Draw, TracksHaveTheColourOfTheirIdAndTheirPath) {
  const auto drawer = module<DrawModule>("draw").make_drawer();
  const auto frame = [&](std::int64_t time_ms, std::vector<Detection> objects) {
    Page page(400, 120);
    Result result = boxes(std::move(objects));
    result.width = 400;
    result.height = 120;
    result.frame = time_ms;
    result.timestamp_ns = time_ms * 1'000'000;
    drawer->draw(result, page.view());
    return page;
  };
  frame(0, {tracked(50, 1)});
  frame(100, {tracked(150, 1)});
  const Page page = frame(200, {tracked(250, 1), tracked(350, 2)});
  const Rgb line = page.at(240, 60);  // the left side of its box
  EXPECT_NE(line, kGray);
  EXPECT_NE(line, page.at(340, 60));
  EXPECT_EQ(page.at(200, 60), line);
  EXPECT_EQ(page.at(100, 60), line);
  EXPECT_EQ(page.at(30, 60), kGray);
  EXPECT_EQ(page.at(300, 60), kGray);  // the other one has no path yet
  EXPECT_EQ(frame(300, {}).touched(), 0);
  // Longer ago than paths are shown, and before a clock that was set back.
  EXPECT_EQ(frame(5000, {tracked(300, 1)}).at(200, 60), kGray);
  EXPECT_EQ(frame(100, {tracked(100, 1)}).at(200, 60), kGray);
}

TEST(Draw, BoxesOutsideAreCutAndUnusableOnesLeftOut) {
  Page page(64, 48);

  page.draw(boxes(
      {{{kNan, 1, 20, 20}, 0, "nan", 1}, {{30, 30, 10, 10}, 0, "backwards", 1}, {{70, 50, 90, 60}, 0, "far", 1}}));
  EXPECT_EQ(page.touched(), 0);

  page.draw(boxes({{{-kInfinity, -1e30F, kInfinity, 1e30F}, -7, "everything", 1}}));
  EXPECT_NE(page.at(63, 47), kGray);
  EXPECT_EQ(page.at(32, 40), kGray);
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, NamesThatAreNotTextDoNoHarm) {
  Page page(640, 480);
  const std::string endless(20'000, 'x');

  page.draw(boxes({{{100, 200, 300, 400}, 0, "\xFF\xFE", 1},
                   {{10, 300, 60, 400}, 1, endless, 1},
                   {{400, 200, 500, 400}, 2, "", 1}}));

  EXPECT_NE(page.at(101, 190), kGray);
  EXPECT_NE(page.at(401, 190), kGray);  // "class 2 1.00"
  EXPECT_TRUE(page.padding_is_untouched());
}

/// The pixels of a label in a row of (101, 190), which the box at (100, 200) has.
int label_width(const Page& page) {
  int width = 0;
  for (int x = 100; x < page.width(); ++x)
    if (page.at(x, 198) != kGray) width = x - 99;
  return width;
}

TEST(Draw, LabelsHaveWhatTheSecondModelPredicts) {
  const Classification classes[] = {{5, "tabby", 0.5F}, {9, "lynx", 0.25F}};
  const auto width_of = [](const Detection& object) {
    Page page(640, 480);
    page.draw(boxes({object}));
    return label_width(page);
  };
  const Detection cat{.box = {100, 200, 120, 220}, .class_name = "cat", .confidence = 0.91F};
  Detection object = cat;
  object.classes = classes;
  Detection same = cat;
  same.class_name = "cat 0.91: tabby";
  same.confidence = 0.5F;
  EXPECT_EQ(width_of(object), width_of(same));
  EXPECT_GT(width_of(object), width_of(cat));
  object.classes = {};
  object.text = "AB 123";
  object.text_confidence = 0.98F;
  same.class_name = "AB 123";
  same.confidence = 0.98F;
  EXPECT_EQ(width_of(object), width_of(same)) << "the text replaces the class";
}

TEST(Draw, TextsAreShortenedToTheImage) {
  std::string endless;
  for (int i = 0; i < 3000; ++i) endless += "\u597d";
  for (const std::string& text : {endless, std::string("\xFF\xFE"), std::string(500, 'W'), std::string("\u0634\n")}) {
    Page page(640, 480);
    page.draw(boxes({{.box = {100, 200, 120, 220}, .text = text, .text_confidence = 1}}));
    EXPECT_NE(page.at(101, 190), kGray);
    EXPECT_TRUE(page.padding_is_untouched());
  }
  // The shortened text ends with its confidence: two confidences differ in the image.
  Page low(640, 480);
  Page high(640, 480);
  low.draw(boxes({{.box = {100, 200, 120, 220}, .text = endless, .text_confidence = 0.11F}}));
  high.draw(boxes({{.box = {100, 200, 120, 220}, .text = endless, .text_confidence = 0.88F}}));
  int different = 0;
  for (int y = 180; y < 200; ++y)
    for (int x = 0; x < 640; ++x) different += low.at(x, y) == high.at(x, y) ? 0 : 1;
  EXPECT_GT(different, 0);
}

TEST(Draw, CharactersThatNoFontHasArePlaceholders) {
  const auto tag_of = [](std::string_view text) {
    Page page(640, 480);
    page.draw(boxes({{.box = {100, 200, 120, 220}, .text = text, .text_confidence = 1}}));
    std::vector<int> tag;
    for (int y = 180; y < 200; ++y)
      for (int x = 100; x < 200; ++x) tag.push_back(page.at(x, y).r);
    return tag;
  };
  // Unassigned code points.
  EXPECT_EQ(tag_of("\U00050001"), tag_of("\U00060002"));
  EXPECT_NE(tag_of("\U00050001"), tag_of("\U00050001\U00050001"));
}

/// Pixels of the same colour as the one at (x, y), anywhere.
int count_like(const Page& page, Rgb color) {
  int count = 0;
  for (int y = 0; y < page.height(); ++y)
    for (int x = 0; x < page.width(); ++x) count += page.at(x, y) == color ? 1 : 0;
  return count;
}

TEST(Draw, TagsOfBoxesInOnePlaceDoNotCoverEachOther) {
  std::vector<Detection> stack;
  for (int id = 0; id < 4; ++id) stack.push_back({{200, 200, 260, 260}, id, "person", 0.9F});
  std::vector<int> alone;
  for (const Detection& one : stack) {
    Page page(640, 480);
    page.draw(boxes({one}));
    alone.push_back(count_like(page, page.at(201, 190)));
  }
  Page page(640, 480);

  page.draw(boxes(stack));

  for (std::size_t id = 0; id < stack.size(); ++id) {
    Page single(640, 480);
    single.draw(boxes({stack[id]}));
    // The boxes' lines coincide with the first one's; the tags do not.
    const int box = 2 * 2 * (60 + 60);
    EXPECT_GE(count_like(page, single.at(201, 190)), alone[id] - box) << id;
  }
}

TEST(Draw, ATagWithoutAFreePlaceIsLeftOut) {
  Page page(640, 480);
  std::vector<Detection> stack;
  for (int id = 0; id < 200; ++id) stack.push_back({{300, 200, 310, 210}, 0, "person", 0.9F});

  page.draw(boxes(stack));

  EXPECT_EQ(page.at(100, 100), kGray);
  EXPECT_EQ(page.at(300, 300), kGray);
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, AMaskTintsItsPixelsAndHasABorder) {
  Page page(640, 480);
  std::vector<MaskRun> runs;
  for (int y = 200; y < 300; ++y) runs.push_back({y, 100, 200});
  Detection object{{100, 200, 200, 300}, 0, "person", 0.9F};
  object.mask = Mask{runs, 10'000};

  page.draw(boxes({object}));

  const Rgb inside = page.at(150, 250);
  EXPECT_NE(inside, kGray);
  EXPECT_EQ(page.at(160, 260), inside);
  EXPECT_NE(page.at(100, 250), inside);
  EXPECT_EQ(page.at(210, 250), kGray);
}

TEST(Draw, ATurnedBoxIsDrawnByItsCorners) {
  Page page(640, 480);
  Detection object{{250, 190, 390, 290}, 0, "", 0.9F};
  object.oriented = OrientedBox{320, 240, 100, 100, 0.7853982F};  // stands on a corner

  page.draw(boxes({object}));

  EXPECT_NE(page.at(320, 169), kGray);  // 70.7 above its centre
  EXPECT_NE(page.at(390, 240), kGray);
  EXPECT_EQ(page.at(320, 240), kGray);
  EXPECT_EQ(page.at(260, 200), kGray);  // nothing at the axis-aligned box's corner
}

TEST(Draw, ASkeletonHasLimbsBetweenPointsThatAreSeen) {
  std::vector<Keypoint> points(17, {0, 0, 0});
  points[5] = {200, 200, 0.9F};  // the left shoulder,
  points[7] = {200, 300, 0.9F};  // elbow,
  points[9] = {200, 400, 0.1F};  // and wrist, which is not visible
  points[6] = {400, 200, 0.9F};  // the right shoulder
  points[8] = {400, 300, 0.9F};
  Detection object{{150, 100, 450, 450}, 0, "person", 0.9F};
  object.keypoints = points;
  Page page(640, 480);

  page.draw(boxes({object}));

  EXPECT_NE(page.at(200, 250), kGray);
  EXPECT_NE(page.at(300, 200), kGray);              // from shoulder to shoulder
  EXPECT_NE(page.at(200, 250), page.at(400, 250));  // each side has its own colour
  EXPECT_EQ(page.at(200, 350), kGray);
  EXPECT_EQ(page.at(5, 5), kGray);  // points without confidence are not drawn
}

TEST(Draw, OtherNumbersOfKeypointsAreDots) {
  const std::vector<Keypoint> points = {{200, 200}, {300, 200}, {250, 250}, {210, 300}, {290, 300}};
  Detection object{{150, 150, 350, 350}, 0, "face", 0.9F};
  object.keypoints = points;
  Page page(640, 480);

  page.draw(boxes({object}));

  EXPECT_NE(page.at(200, 200), kGray);
  EXPECT_NE(page.at(200, 200), page.at(300, 200));
  EXPECT_EQ(page.at(250, 200), kGray);
}

TEST(Draw, PlacesThatAreNoneDoNoHarm) {
  const std::vector<Keypoint> points = {{kNan, 1}, {1, kInfinity}, {-1e30F, 1e30F}, {1e9F, 5}, {-7, -7, kNan}};
  std::vector<Keypoint> joints(17, {-1e30F, 1e30F, 1});
  joints[0] = {kNan, kNan, 1};
  std::vector<Detection> objects(4, {{0, 0, 20, 20}, 0, "x", 1});
  objects[0].keypoints = points;
  objects[1].keypoints = joints;
  objects[2].oriented = OrientedBox{kInfinity, 0, kNan, 1e30F, 1e30F};
  const MaskRun beyond[] = {{-5, -9, 2000}, {40, -3, 70}, {400, 0, 5}};
  objects[3].mask = Mask{beyond, 2087};
  Page page(64, 48);

  page.draw(boxes(objects));

  EXPECT_TRUE(page.padding_is_untouched());
}

/// A result for a page, whose left half a model saw on a grid of 2x1.
struct Mapped {
  Mapped() {
    result.width = 640;
    result.height = 480;
  }
  GridPlace place{2, 1, 2 / 320.0, 1 / 480.0, 0, 0, {0, 0, 320, 480}};
  std::vector<std::int32_t> ids = {0, 1};
  std::vector<float> depths = {1, 100};
  Result result;
};

TEST(Draw, AClassMapTintsWhatTheModelSawAndHasALegend) {
  Mapped mapped;
  mapped.result.class_map = {mapped.place, mapped.ids};
  mapped.result.segments = {{0, "sky", 76'800}, {1, "sea", 76'800}};
  Page page(640, 480);

  page.draw(mapped.result);

  EXPECT_NE(page.at(80, 240), kGray);
  EXPECT_NE(page.at(80, 240), page.at(240, 240));
  EXPECT_EQ(page.at(400, 240), kGray);
  EXPECT_NE(page.at(600, 8), kGray);
  EXPECT_EQ(page.at(600, 60), kGray);
}

TEST(Draw, TheBackgroundOfAClassMapStaysClear) {
  Mapped mapped;
  mapped.result.segments = {{0, "ground", 76'800}, {1, "sea", 76'800}};
  for (const int background : {-1, 0, 1}) {
    mapped.result.class_map = {mapped.place, mapped.ids, background};
    Page page(640, 480);

    page.draw(mapped.result);

    EXPECT_EQ(page.at(80, 240) == kGray, background == 0) << background;
    EXPECT_EQ(page.at(240, 240) == kGray, background == 1) << background;
  }
}

TEST(Draw, DepthAloneFillsTheImageLightWhereNear) {
  for (const auto& [kind, near, far] :
       {std::tuple{DepthKind::kRelative, 20, 300}, std::tuple{DepthKind::kInverse, 300, 20}}) {
    SCOPED_TRACE(to_string(kind));
    Mapped mapped;
    mapped.result.depth = {mapped.place, kind, mapped.depths, 1, 100, 50};
    Page page(640, 480);

    page.draw(mapped.result);

    EXPECT_GT(page.at(near, 240).g, 200);
    EXPECT_LT(page.at(far, 240).g, 30);
    EXPECT_EQ(page.at(400, 240), kGray);
  }
}

TEST(Draw, OutliersDoNotTakeTheColoursOfDepth) {
  Mapped mapped;
  mapped.place = {1000, 1, 1000 / 640.0, 1 / 480.0, 0, 0, {0, 0, 640, 480}};
  mapped.depths.assign(1000, 1);
  std::fill(mapped.depths.begin() + 500, mapped.depths.end(), 2.0F);
  mapped.depths[999] = 1e6F;
  mapped.result.depth = {mapped.place, DepthKind::kRelative, mapped.depths, 1, 1e6F, 1000};
  Page page(640, 480);

  page.draw(mapped.result);

  EXPECT_GT(page.at(160, 240).g, 200);
  EXPECT_LT(page.at(480, 240).g, 30);
}

TEST(Draw, DepthBesideOtherPredictionsHasACorner) {
  Mapped mapped;
  mapped.result.depth = {mapped.place, DepthKind::kMetric, mapped.depths, 1, 100, 50};
  mapped.result.detections.push_back({{100, 100, 200, 200}, 0, "car", 1});
  Page page(640, 480);

  page.draw(mapped.result);

  EXPECT_EQ(page.at(20, 240), kGray);
  EXPECT_NE(page.at(500, 400), kGray);
}

TEST(Draw, TheLegendOfASmallMapIsWithinTheImage) {
  Mapped mapped;
  mapped.depths = {6.914F, 57.25F};
  mapped.result.depth = {mapped.place, DepthKind::kMetric, mapped.depths, 6.914F, 57.25F, 32};
  mapped.result.detections.push_back({{100, 100, 200, 200}, 0, "car", 1});
  Page page(200, 150);

  page.draw(mapped.result);

  // The map is 50 pixels wide and has a margin of 4; its legend begins to the left of it.
  EXPECT_NE(page.at(130, 140), kGray);
  for (int y = 0; y < 150; ++y) EXPECT_EQ(page.at(198, y), kGray) << y;
}

TEST(Draw, DepthOfNothingFiniteIsNoProblem) {
  Mapped mapped;
  mapped.depths = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  mapped.result.depth = {mapped.place, DepthKind::kMetric, mapped.depths, 0, 0, 0};
  Page page(640, 480);

  page.draw(mapped.result);

  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(Draw, ScalesToALargerImage) {
  Result result = boxes({{{50, 100, 150, 200}, 0, "person", 0.91F}});
  result.width = 320;
  result.height = 240;
  Page page(640, 480);

  page.draw(result);

  EXPECT_NE(page.at(100, 300), kGray);
  EXPECT_NE(page.at(299, 300), kGray);
  EXPECT_EQ(page.at(50, 150), kGray);
}

TEST(Draw, ClassesAreListedInTheCorner) {
  Page page(640, 480);
  Result result;
  result.classes = {{1, "golden retriever", 0.83F}, {2, "tennis ball", 0.11F}};

  page.draw(result);

  EXPECT_NE(page.at(10, 10), kGray);
  EXPECT_NE(page.at(10, 20), kGray);
  EXPECT_EQ(page.at(10, 40), kGray);  // two rows and no more
  EXPECT_EQ(page.at(600, 10), kGray);
}

TEST(Draw, AcceptsTinyImages) {
  Page page(1, 1);

  page.draw(boxes({{{0, 0, 1, 1}, 0, "person", 0.9F}}));

  EXPECT_NE(page.at(0, 0), kGray);
}

}  // namespace
}  // namespace saccade
