#include "vision/zones/zone_counter.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using Events = std::vector<std::string>;

Zone gate(std::string name = "gate") {
  return {.kind = ZoneKind::kLine, .name = std::move(name), .points = {{100, 50}, {200, 50}}};
}

Zone yard(std::string name = "yard") {
  return {.kind = ZoneKind::kArea, .name = std::move(name), .points = {{100, 50}, {200, 50}, {200, 90}, {100, 90}}};
}

/// An object of 20 x 30 pixels whose lower side has its middle at (X, Y).
Detection object(std::int64_t id, float x, float y, int class_id = 0) {
  static constexpr std::array<std::string_view, 3> kNames = {"person", "car", "bus"};
  Detection made;
  made.box = {x - 10, y - 30, x + 10, y};
  made.class_id = class_id;
  made.class_name = kNames.at(static_cast<std::size_t>(class_id));
  made.track_id = id;
  return made;
}

/// A counter on frames of 640 x 360 pixels.
class Watch {
 public:
  explicit Watch(std::vector<Zone> zones, nanoseconds keep = seconds(1)) : zones_(std::move(zones)) {
    std::vector<const Zone*> all;
    for (const Zone& zone : zones_) all.push_back(&zone);
    check_zones(zones_);
    counter_.emplace(all, keep);
    frame_.width = 640;
    frame_.height = 360;
  }

  /// "gate in 7 person", "yard leave 7 person 1.5", ...
  Events at(milliseconds time, std::vector<Detection> objects) {
    frame_.timestamp_ns = nanoseconds(time).count();
    frame_.detections = std::move(objects);
    counter_->update(frame_);
    Events events;
    for (const ZoneEvent& each : counter_->events()) {
      events.push_back(fmt::format("{} {} {} {}", each.zone, to_string(each.kind), each.track_id, each.class_name));
      if (each.kind == ZoneEventKind::kEnter || each.kind == ZoneEventKind::kLeave)
        events.back() += fmt::format(" {}", std::chrono::duration<double>(each.stay).count());
      since_ = each.since_ns;
    }
    return events;
  }
  Watch& resize(int width, int height) {
    frame_.width = width;
    frame_.height = height;
    return *this;
  }
  ZoneCounter& counter() { return *counter_; }
  std::int64_t last_since_ms() const { return since_ / 1'000'000; }

 private:
  std::vector<Zone> zones_;
  std::optional<ZoneCounter> counter_;
  Result frame_;
  std::int64_t since_ = 0;
};

TEST(ZoneCounter, CountsConfirmedTracksByClassAndDirection) {
  Watch watch({gate()});
  watch.at(milliseconds(0), {object(1, 150, 60), object(2, 160, 40, 1), object(3, 170, 60, 1)});
  watch.at(milliseconds(100), {object(1, 150, 40), object(2, 160, 60, 1), object(3, 170, 40, 1)});
  EXPECT_EQ(watch.at(milliseconds(400), {object(1, 150, 40), object(2, 160, 60, 1), object(3, 170, 40, 1)}),
            (Events{"gate in 1 person", "gate out 2 car", "gate in 3 car"}));
  EXPECT_EQ(watch.last_since_ms(), 100);
  const ZoneSummary counted = watch.counter().summaries().at(0);
  EXPECT_EQ(counted.in, 2);
  EXPECT_EQ(counted.out, 1);
  ASSERT_EQ(counted.classes.size(), 2U);
  EXPECT_EQ(counted.classes[0].class_name, "person");
  EXPECT_EQ(counted.classes[0].in, 1);
  EXPECT_EQ(counted.classes[1].in, 1);
  EXPECT_EQ(counted.classes[1].out, 1);
  EXPECT_EQ(watch.counter().states()[0].in, 2);
  EXPECT_EQ(watch.counter().states()[0].out, 1);
}

TEST(ZoneCounter, UnconfirmedTracksCountNothing) {
  Watch watch({gate(), yard()});
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(watch.at(milliseconds(100 * i), {object(0, 150, i < 10 ? 40.0F : 60.0F)}).empty());
    EXPECT_TRUE(watch.at(milliseconds(100 * i + 50), {object(-1, 150, i < 10 ? 40.0F : 60.0F)}).empty());
  }
}

TEST(ZoneCounter, TheFirstPositionIsThatOfTheConfirmedTrack) {
  Watch watch({gate()});
  watch.at(milliseconds(0), {object(0, 150, 60)});  // not confirmed yet
  watch.at(milliseconds(100), {object(7, 150, 40)});
  EXPECT_TRUE(watch.at(milliseconds(900), {object(7, 150, 40)}).empty());
}

TEST(ZoneCounter, ABoxAstrideTheLineIsWhereItsAnchorIs) {
  Zone at_bottom = gate("bottom");
  Zone at_top = gate("top");
  at_top.anchor = ZoneAnchor::kTop;
  Watch watch({at_bottom, at_top});
  // The box is from 35 to 65, around the line at 50, for a long time.
  watch.at(milliseconds(0), {object(1, 150, 95)});
  for (int i = 1; i < 20; ++i) {
    const Events events = watch.at(milliseconds(100 * i), {object(1, 150, 65)});
    EXPECT_EQ(events, i == 4 ? Events{"top in 1 person"} : Events{}) << i;
  }
  watch.at(milliseconds(2000), {object(1, 150, 45)});
  EXPECT_EQ(watch.at(milliseconds(2300), {object(1, 150, 45)}), Events{"bottom in 1 person"});
}

TEST(ZoneCounter, FlickeringDetectionsAreJoined) {
  Watch watch({gate()});
  watch.at(milliseconds(0), {object(1, 150, 60)});
  watch.at(milliseconds(40), {});
  watch.at(milliseconds(80), {object(1, 150, 45)});
  for (int t = 120; t < 380; t += 40) EXPECT_TRUE(watch.at(milliseconds(t), {}).empty());
  EXPECT_EQ(watch.at(milliseconds(380), {object(1, 150, 45)}), Events{"gate in 1 person"});
}

TEST(ZoneCounter, ATrackThatEndsBeforeHoldIsNotCounted) {
  Watch watch({gate()});
  watch.at(milliseconds(0), {object(1, 150, 60)});
  watch.at(milliseconds(100), {object(1, 150, 40)});
  for (int t = 200; t < 9000; t += 100) EXPECT_TRUE(watch.at(milliseconds(t), {}).empty());
  // The same object under another ID begins where it is.
  for (int t = 9000; t < 9900; t += 100) EXPECT_TRUE(watch.at(milliseconds(t), {object(2, 150, 40)}).empty());
  EXPECT_EQ(watch.counter().summaries()[0].in, 0);
}

TEST(ZoneCounter, ALineOnTheFramesEdgeIsNeverCrossed) {
  Zone edge = gate("edge");
  edge.points = {{0, 360}, {640, 360}};
  Zone inner = gate("inner");
  inner.points = {{0, 350}, {640, 350}};
  EXPECT_TRUE(is_on_edge(edge, 640, 360));
  EXPECT_FALSE(is_on_edge(edge, 640, 480));
  EXPECT_FALSE(is_on_edge(inner, 640, 360));
  Watch watch({edge, inner});
  // The box is clipped at the lower edge: its lower side stays there.
  Events events;
  for (int i = 0; i < 30; ++i) {
    const Events now =
        watch.at(milliseconds(40 * i), {object(1, 300, std::min(300.0F + 10 * static_cast<float>(i), 360.0F))});
    events.insert(events.end(), now.begin(), now.end());
  }
  EXPECT_EQ(events, Events{"inner out 1 person"});
}

TEST(ZoneCounter, ALineThatEndsAtTheFramesEdgeIsCrossedThere) {
  Zone whole = gate();
  whole.points = {{0, 200}, {640, 200}};
  whole.anchor = ZoneAnchor::kLeft;
  Watch watch({whole});
  Detection clipped = object(1, 10, 215);
  clipped.box = {0, 190, 12, 230};
  watch.at(milliseconds(0), {clipped});
  clipped.box = {0, 170, 12, 210};
  watch.at(milliseconds(100), {clipped});
  EXPECT_EQ(watch.at(milliseconds(400), {clipped}), Events{"gate in 1 person"});
}

TEST(ZoneCounter, TheClassIsTheMostFrequentOne) {
  Watch watch({gate()});
  for (int i = 0; i < 5; ++i) watch.at(milliseconds(40 * i), {object(1, 150, 60, i == 2 ? 2 : 1)});
  watch.at(milliseconds(200), {object(1, 150, 40, 2)});
  EXPECT_EQ(watch.at(milliseconds(500), {object(1, 150, 40, 2)}), Events{"gate in 1 car"});
}

TEST(ZoneCounter, AVisitEndsWithTheClassThatItBeganWith) {
  Watch watch({yard()});
  watch.at(milliseconds(0), {object(1, 150, 60, 1)});
  EXPECT_EQ(watch.at(milliseconds(300), {object(1, 150, 60, 1)}), Events{"yard enter 1 car 0.3"});
  for (int i = 1; i < 10; ++i) watch.at(milliseconds(300 + 100 * i), {object(1, 150, 60, 2)});
  EXPECT_EQ(watch.at(milliseconds(9000), {}), Events{"yard leave 1 car 1.2"});
  EXPECT_EQ(watch.counter().summaries()[0].classes.size(), 1U);
}

TEST(ZoneCounter, OnlyWantedClassesCount) {
  Zone cars = gate("cars");
  cars.classes = {"bus", "car"};
  Zone parking = yard("parking");
  parking.classes = {"car"};
  Watch watch({cars, parking});
  watch.at(milliseconds(0), {object(1, 150, 40), object(2, 160, 40, 1), object(3, 170, 40, 2)});
  watch.at(milliseconds(100), {object(1, 150, 60), object(2, 160, 60, 1), object(3, 170, 60, 2)});
  EXPECT_EQ(watch.at(milliseconds(400), {object(1, 150, 60), object(2, 160, 60, 1), object(3, 170, 60, 2)}),
            (Events{"cars out 2 car", "parking enter 2 car 0.3", "cars out 3 bus"}));
}

TEST(ZoneCounter, AVisitLastsFromTheFirstToTheLastSightingInside) {
  Watch watch({yard()});
  watch.at(milliseconds(0), {object(1, 150, 40)});
  EXPECT_TRUE(watch.at(milliseconds(100), {object(1, 150, 60)}).empty());
  EXPECT_TRUE(watch.at(milliseconds(399), {object(1, 150, 60)}).empty());
  EXPECT_EQ(watch.at(milliseconds(400), {object(1, 150, 60)}), Events{"yard enter 1 person 0.3"});
  EXPECT_EQ(watch.last_since_ms(), 100);
  EXPECT_EQ(watch.counter().states()[0].inside, 1);
  EXPECT_TRUE(watch.at(milliseconds(1600), {object(1, 150, 60)}).empty());
  EXPECT_TRUE(watch.at(milliseconds(1700), {object(1, 150, 40)}).empty());
  EXPECT_TRUE(watch.at(milliseconds(1999), {object(1, 150, 40)}).empty());
  EXPECT_EQ(watch.at(milliseconds(2000), {object(1, 150, 40)}), Events{"yard leave 1 person 1.5"});
  EXPECT_EQ(watch.last_since_ms(), 1600);
  const ZoneSummary counted = watch.counter().summaries().at(0);
  EXPECT_EQ(counted.in, 1);
  EXPECT_EQ(counted.out, 1);
  EXPECT_EQ(counted.inside, 0);
  EXPECT_EQ(counted.dwell.count, 1);
  EXPECT_EQ(counted.dwell.max, milliseconds(1500));
  EXPECT_EQ(counted.dwell.mean(), milliseconds(1500));
  EXPECT_EQ(counted.dwell.at_most[0], 0);  // 1 s
  EXPECT_EQ(counted.dwell.at_most[1], 1);  // 2 s
}

TEST(ZoneCounter, AShortVisitAndAShortAbsenceCountNothing) {
  Watch watch({yard()});
  for (int i = 0; i < 40; ++i)
    EXPECT_TRUE(watch.at(milliseconds(100 * i), {object(1, 150, i % 3 == 0 ? 40.0F : 60.0F)}).empty()) << i;
  watch.at(milliseconds(4000), {object(1, 150, 60)});
  EXPECT_EQ(watch.at(milliseconds(4300), {object(1, 150, 60)}), Events{"yard enter 1 person 0.3"});
  for (int i = 44; i < 80; ++i)
    EXPECT_TRUE(watch.at(milliseconds(100 * i), {object(1, 150, i % 3 == 0 ? 40.0F : 60.0F)}).empty()) << i;
  EXPECT_EQ(watch.counter().summaries()[0].inside, 1);
}

TEST(ZoneCounter, AnObjectThatIsNotSeenHasLeft) {
  Watch watch({yard()});
  watch.at(milliseconds(0), {object(1, 150, 60)});
  EXPECT_EQ(watch.at(milliseconds(500), {object(1, 150, 60)}), Events{"yard enter 1 person 0.5"});
  EXPECT_TRUE(watch.at(milliseconds(1500), {}).empty());
  EXPECT_TRUE(watch.at(milliseconds(2500), {}).empty());
  EXPECT_EQ(watch.counter().summaries()[0].inside, 1);
  EXPECT_EQ(watch.at(milliseconds(2501), {}), Events{"yard leave 1 person 0.5"});
  EXPECT_EQ(watch.counter().summaries()[0].inside, 0);
  EXPECT_TRUE(watch.at(milliseconds(9000), {}).empty());
}

TEST(ZoneCounter, ATrackThatComesBackLaterBeginsANewVisit) {
  Watch watch({yard()}, seconds(60));
  watch.at(milliseconds(0), {object(1, 150, 60)});
  watch.at(milliseconds(500), {object(1, 150, 60)});
  EXPECT_TRUE(watch.at(milliseconds(2500), {object(1, 150, 60)}).empty());  // within `lost`
  EXPECT_EQ(watch.at(milliseconds(9000), {object(1, 150, 60)}), Events{"yard leave 1 person 2.5"});
  EXPECT_EQ(watch.at(milliseconds(9300), {object(1, 150, 60)}), Events{"yard enter 1 person 0.3"});
}

TEST(ZoneCounter, ATrackIsRememberedAsLongAsItsTrackerKeepsIt) {
  Watch watch({gate()}, seconds(60));
  watch.at(milliseconds(0), {object(1, 150, 60)});
  for (int t = 1; t < 60; ++t) watch.at(seconds(t), {});
  watch.at(milliseconds(59'500), {object(1, 150, 40)});
  EXPECT_EQ(watch.at(milliseconds(59'800), {object(1, 150, 40)}), Events{"gate in 1 person"});
}

TEST(ZoneCounter, AJumpBackOfTheClockBeginsHoldAgain) {
  Watch watch({gate(), yard()});
  watch.at(milliseconds(100'000), {object(1, 150, 40), object(2, 150, 60)});
  watch.at(milliseconds(100'500), {object(1, 150, 60), object(2, 150, 60)});
  // Object 1 is over the line, and object 2 inside. The file begins again.
  EXPECT_TRUE(watch.at(milliseconds(0), {object(1, 150, 60), object(2, 150, 60)}).empty());
  EXPECT_TRUE(watch.at(milliseconds(299), {object(1, 150, 60), object(2, 150, 60)}).empty());
  EXPECT_EQ(watch.at(milliseconds(300), {object(1, 150, 60), object(2, 150, 60)}),
            (Events{"gate out 1 person", "yard enter 1 person 0.3"}));
  EXPECT_EQ(watch.last_since_ms(), 0);
  // Object 2 entered before the jump: its stay is what was seen of it, and goes on.
  EXPECT_TRUE(watch.at(milliseconds(500), {}).empty());
  EXPECT_EQ(watch.at(milliseconds(2301), {}), (Events{"yard leave 1 person 0.3", "yard leave 2 person 0.8"}));
}

TEST(ZoneCounter, NormalizedZonesFollowTheSizeOfTheFrame) {
  Zone shares = gate();
  shares.units = ZoneUnits::kNormalized;
  shares.points = {{0, 0.5}, {1, 0.5}};
  Watch watch({shares});
  watch.at(milliseconds(0), {object(1, 150, 190)});
  EXPECT_EQ(watch.counter().states()[0].points[1].x, 640);
  EXPECT_EQ(watch.counter().states()[0].points[1].y, 180);
  // The same place on a frame of half the size is no movement, whatever its pixels are.
  watch.resize(320, 180);
  EXPECT_TRUE(watch.at(milliseconds(100), {object(1, 75, 95)}).empty());
  EXPECT_TRUE(watch.at(milliseconds(900), {object(1, 75, 95)}).empty());
  EXPECT_EQ(watch.counter().states()[0].points[1].y, 90);
  watch.at(milliseconds(1000), {object(1, 75, 85)});
  EXPECT_EQ(watch.at(milliseconds(1300), {object(1, 75, 85)}), Events{"gate in 1 person"});
}

TEST(ZoneCounter, PixelsMustBeInTheFrame) {
  EXPECT_EQ(misfit_of(gate(), 640, 360), "");
  EXPECT_EQ(misfit_of(gate(), 200, 50), "");
  EXPECT_EQ(
      misfit_of(gate(), 199, 50),
      "the line 'gate' has a point at (200, 50), outside of frames of 199x50 pixels: give pixels of the frame, or "
      "shares of it with units = \"normalized\"");
}

TEST(ZoneCounter, InvalidBoxesAndASecondBoxOfATrackAreIgnored) {
  Watch watch({gate()});
  watch.at(milliseconds(0), {object(1, 150, 60)});
  watch.at(milliseconds(100), {object(1, std::numeric_limits<float>::quiet_NaN(), 40)});
  watch.at(milliseconds(200), {object(1, 150, 60), object(1, 150, 40)});
  EXPECT_TRUE(watch.at(milliseconds(900), {object(1, 150, 60)}).empty());
}

TEST(ZoneCounter, TracksDoNotDisturbEachOther) {
  // What one track alone causes, it causes among others whose IDs come and go in any order.
  std::mt19937 random(5);
  const auto path_of = [&](std::int64_t id) {
    std::vector<std::pair<int, Detection>> path;
    float x = 100.0F + static_cast<float>(random() % 100);
    float y = 30.0F + static_cast<float>(random() % 60);
    const int first = static_cast<int>(random() % 100);
    for (int i = first; i < first + 60; ++i) {
      x += static_cast<float>(random() % 15) - 7;
      y += static_cast<float>(random() % 15) - 7;
      if (random() % 4 != 0) path.emplace_back(i, object(id, x, y, static_cast<int>(id % 3)));
    }
    return path;
  };
  std::vector<std::vector<std::pair<int, Detection>>> paths;
  for (std::int64_t id = 1; id <= 60; ++id) paths.push_back(path_of(1 + (id * 37) % 101));
  std::vector<Events> alone(200);
  for (const auto& path : paths) {
    Watch watch({gate(), yard()});
    for (int i = 0; i < 200; ++i) {
      std::vector<Detection> seen;
      for (const auto& [frame, detection] : path)
        if (frame == i) seen.push_back(detection);
      for (const std::string& each : watch.at(milliseconds(40 * i), seen))
        alone[static_cast<std::size_t>(i)].push_back(each);
    }
  }
  Watch together({gate(), yard()});
  std::size_t total = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<Detection> seen;
    for (const auto& path : paths)
      for (const auto& [frame, detection] : path)
        if (frame == i) seen.push_back(detection);
    Events events = together.at(milliseconds(40 * i), seen);
    std::ranges::sort(events);
    std::ranges::sort(alone[static_cast<std::size_t>(i)]);
    EXPECT_EQ(events, alone[static_cast<std::size_t>(i)]) << i;
    total += events.size();
  }
  EXPECT_GT(total, 20U);
}

TEST(ClassVotes, TheMostFrequentOfMany) {
  ClassVotes votes;
  for (const int each : {5, 6, 6, 5}) votes.add(each);
  EXPECT_EQ(votes.most(), 6);  // the first with two
  votes.add(5);
  EXPECT_EQ(votes.most(), 5);
  for (int i = 0; i < 100; ++i) votes.add(i % 10 == 0 ? 200 + i : 9);
  EXPECT_EQ(votes.most(), 9);
}

}  // namespace
}  // namespace saccade
