#include <gtest/gtest.h>

#include <vector>

#include "vision/drawn_page.hpp"

namespace saccade {
namespace {

using test::kGray;
using test::Page;
using test::Rgb;

/// A line of 400 pixels in the middle of a page of 640 x 480, from left to right, and an area below it.
struct DrawnZones {
  std::vector<ZonePoint> line = {{120, 240}, {520, 240}};
  std::vector<ZonePoint> area = {{200, 300}, {400, 300}, {400, 460}, {200, 460}};
  std::vector<ZoneState> zones = {{.name = "", .kind = ZoneKind::kLine, .points = line},
                                  {.name = "", .kind = ZoneKind::kArea, .points = area}};
  Result result;

  DrawnZones() {
    result.width = 640;
    result.height = 480;
    result.zones = zones;
  }
  DrawnZones(const DrawnZones&) = delete;
  DrawnZones& operator=(const DrawnZones&) = delete;
};

TEST(DrawZones, ALineHasAnArrowToItsInnerSide) {
  Page page(640, 480);
  const DrawnZones drawn;

  page.draw(drawn.result);

  const Rgb line = page.at(400, 240);
  EXPECT_NE(line, kGray);
  EXPECT_EQ(page.at(500, 240), line);
  EXPECT_EQ(page.at(320, 232), line);   // up from its middle
  EXPECT_EQ(page.at(320, 248), kGray);  // and not down
  EXPECT_EQ(page.at(600, 240), kGray);
  EXPECT_LT(page.at(400, 238).r, kGray.r);  // a dark rim
  EXPECT_TRUE(page.padding_is_untouched());
}

TEST(DrawZones, AnAreaIsTranslucentWithAnOutline) {
  Page page(640, 480);
  const DrawnZones drawn;

  page.draw(drawn.result);

  EXPECT_NE(page.at(300, 380), kGray);
  EXPECT_EQ(page.at(300, 380), page.at(210, 450));
  EXPECT_NE(page.at(300, 460), page.at(300, 380));
  EXPECT_EQ(page.at(410, 380), kGray);
}

TEST(DrawZones, ZonesHaveTheirNamesAndCountsAndAreUnderObjects) {
  Page without(640, 480);
  Page with(640, 480);
  DrawnZones drawn;
  without.draw(drawn.result);
  drawn.zones[0].name = "the entrance of the street";
  drawn.result.detections = {{{390, 200, 450, 300}, 0, "person", 0.9F}};
  with.draw(drawn.result);
  EXPECT_GT(with.touched(), without.touched() + 1000);
  EXPECT_NE(with.at(390, 240), without.at(390, 240));
}

TEST(DrawZones, ZonesOutsideOfTheImageAreClipped) {
  Page page(64, 48);
  DrawnZones drawn;
  drawn.result.width = 64;
  drawn.result.height = 48;
  drawn.line = {{-1e9, 20}, {500, 1e9}};
  drawn.area = {{-50, -50}, {5000, -50}, {5000, 4000}};
  drawn.zones[0].points = drawn.line;
  drawn.zones[1].points = drawn.area;
  page.draw(drawn.result);
  EXPECT_TRUE(page.padding_is_untouched());
  EXPECT_NE(page.at(60, 5), kGray);
}

}  // namespace
}  // namespace saccade
