#include <gmock/gmock.h>

#include "saccade/error.hpp"
#include "saccade/zones.hpp"
#include "support/temp_folder.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class ReadZones : public testing::Test {
 protected:
  std::vector<Zone> read(const std::string& text) {
    folder_.write("zones.toml", text);
    return read_zones(folder_ / "zones.toml");
  }
  /// The message without the folder's name.
  std::string error_of(const std::string& text) {
    try {
      read(text);
      return "read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
      std::string message = error.what();
      const std::string path = folder_ / "zones.toml";
      if (const std::size_t at = message.find(path); at != std::string::npos)
        message.replace(at, path.size(), "zones.toml");
      return message;
    }
  }

  test::TempFolder folder_;
};

TEST_F(ReadZones, ALineAndAnArea) {
  const std::vector<Zone> zones = read(R"(
[[line]]
name = "door"
source = "a.mp4"
from = [10, 20.5]
to = [30, 40]
classes = ["person", "dog"]
anchor = "center"
hold = 1
model = "yolo"

[[area]]
name = "queue"
source = 1
points = [[0.1, 0.2], [0.9, 0.2], [0.5, 1]]
units = "normalized"
lost = 0.5
)");
  ASSERT_EQ(zones.size(), 2U);
  EXPECT_EQ(zones[0].kind, ZoneKind::kLine);
  EXPECT_EQ(zones[0].name, "door");
  EXPECT_EQ(zones[0].source, "a.mp4");
  EXPECT_FALSE(zones[0].stream);
  EXPECT_EQ(zones[0].model, "yolo");
  ASSERT_EQ(zones[0].points.size(), 2U);
  EXPECT_EQ(zones[0].points[0].y, 20.5);
  EXPECT_EQ(zones[0].points[1].x, 30);
  EXPECT_THAT(zones[0].classes, ElementsAre("person", "dog"));
  EXPECT_EQ(zones[0].anchor, ZoneAnchor::kCenter);
  EXPECT_EQ(zones[0].units, ZoneUnits::kPixels);
  EXPECT_EQ(zones[0].hold, milliseconds(1000));
  EXPECT_EQ(zones[1].kind, ZoneKind::kArea);
  EXPECT_EQ(zones[1].stream, 1U);
  EXPECT_EQ(zones[1].anchor, ZoneAnchor::kBottom);
  EXPECT_EQ(zones[1].units, ZoneUnits::kNormalized);
  EXPECT_EQ(zones[1].hold, milliseconds(300));
  EXPECT_EQ(zones[1].lost, milliseconds(500));
  EXPECT_EQ(zones[1].points[2].y, 1);
}

TEST_F(ReadZones, TheFileHasDefaults) {
  const std::vector<Zone> zones = read(R"(
units = "normalized"
hold = 0.5
lost = 4
line = [{name = "a", from = [0, 0.5], to = [1, 0.5]}, {name = "b", from = [0, 50], to = [9, 50], units = "pixels", hold = 0}]
area = [{name = "c", points = [[0, 0], [1, 0], [1, 1]]}]
)");
  ASSERT_EQ(zones.size(), 3U);
  EXPECT_EQ(zones[0].units, ZoneUnits::kNormalized);
  EXPECT_EQ(zones[0].hold, milliseconds(500));
  EXPECT_EQ(zones[1].units, ZoneUnits::kPixels);
  EXPECT_EQ(zones[1].hold, milliseconds(0));
  EXPECT_EQ(zones[2].lost, milliseconds(4000));
}

TEST_F(ReadZones, ErrorsNameTheZoneAndWhatIsAllowed) {
  EXPECT_EQ(error_of("[[area]]\nname = \"q\"\npoints = [[1, 2], [3, 4]]"),
            "zones.toml:1: the area 'q' has 2 points: it needs three or more corners");
  EXPECT_EQ(error_of("[[line]]\nname = \"l\"\nfrom = [7, 7]\nto = [7, 7]"),
            "zones.toml:1: the line 'l' has no length: its ends are the same point");
  EXPECT_THAT(error_of("[[area]]\nname = \"q\"\npoints = [[0, 0], [9, 9], [9, 0], [0, 9]]"),
              HasSubstr("the area 'q' crosses or touches itself"));
  EXPECT_EQ(error_of("[[line]]\nname = \"l\"\nfrom = [0.1, 0.5]\nto = [0.9, 0.5]"),
            "zones.toml:1: the line 'l' is within the frame's first pixel: for shares of the frame's size, add units = "
            "\"normalized\"");
  EXPECT_EQ(error_of("units = \"normalized\"\n[[line]]\nname = \"l\"\nfrom = [0.1, 0.5]\nto = [9, 0.5]"),
            "zones.toml:2: the line 'l' has a point at (9, 0.5): normalized coordinates are numbers from 0 to 1");
  EXPECT_THAT(error_of("[[line]]\nname = \"l\"\nfrom = [-1, 5]\nto = [9, 5]"),
              HasSubstr("the line 'l' has a point at (-1, 5): coordinates in pixels are numbers from 0 to 1048576"));
  EXPECT_EQ(error_of("line = [{name = \"a\", from = [0, 5], to = [9, 5]}, {name = \"a\", from = [0, 6], to = [9, 5]}]"),
            "zones.toml:1: a zone before this one has the name 'a', too: give each its own");
}

TEST_F(ReadZones, ErrorsNameTheLineAndTheKey) {
  EXPECT_EQ(error_of("[[line]]\nfrom = [0, 5]\nto = [9, 5]"),
            "zones.toml:1: 'line.name' is missing: each zone has a name of its own, which its events have");
  EXPECT_EQ(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5]"),
            "zones.toml:1: 'line.to' is missing: a line goes from one point [x, y] to another");
  EXPECT_EQ(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5, 6]\nto = [9, 5]"),
            "zones.toml:3: 'line.from' must be a point, [x, y], as [320, 180]");
  EXPECT_THAT(error_of("[[line]]\nname = \"l\"\nfrom = [0, inf]\nto = [9, 5]"),
              HasSubstr("'line.from' must be a point"));
  EXPECT_THAT(error_of("[[area]]\nname = \"q\"\npoints = [[0, 5], 7]"), HasSubstr("'area.points' must be a point"));
  EXPECT_EQ(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5]\nto = [9, 5]\nanchor = \"foot\""),
            "zones.toml:5: 'line.anchor' must be one of bottom, center, top, left, right");
  EXPECT_EQ(error_of("hold = -1"), "zones.toml:1: 'hold' must be a time in seconds from 0 to 86400");
  EXPECT_THAT(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5]\nto = [9, 5]\nclasses = []"),
              HasSubstr("'line.classes' must be a list of class names"));
  EXPECT_THAT(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5]\nto = [9, 5]\nsource = -1"),
              HasSubstr("'line.source' must be a source as it is given to --source, or its index from 0"));
  EXPECT_THAT(error_of("[[line]]\nname = \"l\"\nfrom = [0, 5]\nto = [9, 5]\npoints = []"),
              HasSubstr("'line.points' is not known; the keys are name, source, from, to, classes, anchor"));
  EXPECT_THAT(error_of("[[zone]]\nname = \"l\""),
              HasSubstr("'zone' is not known; the keys are units, hold, lost, line, area"));
  EXPECT_THAT(error_of("[line]\nname = \"l\""), HasSubstr("'line' must be tables: [[line]]"));
  EXPECT_EQ(error_of("hold = 1"), "the zones file zones.toml has no zone: add a [[line]] or an [[area]]");
  EXPECT_THAT(error_of("[[line"), HasSubstr("the zones file zones.toml:1 can't be read"));
}

TEST(CheckZones, RefusesWhatNoFileHas) {
  const auto error_of = [](const Zone& zone) {
    try {
      check_zones({&zone, 1});
      return std::string("valid");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
  };
  Zone zone{.name = "l", .points = {{0, 5}, {9, 5}}};
  EXPECT_EQ(error_of(zone), "valid");
  zone.hold = milliseconds(-1);
  EXPECT_THAT(error_of(zone), HasSubstr("the line 'l' has an invalid hold"));
  zone.hold = {};
  zone.points.push_back({5, 5});
  EXPECT_EQ(error_of(zone), "the line 'l' has 3 points: it has two ends");
  zone.name.clear();
  EXPECT_EQ(error_of(zone), "a line has no name");
}

}  // namespace
}  // namespace saccade
