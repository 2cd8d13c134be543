#include "vision/tracking/object_tracker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "saccade/error.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Ids = std::vector<std::int64_t>;

TrackedBox box_at(double x, double y = 50, float confidence = 0.9F) {
  const auto left = static_cast<float>(x);
  const auto top = static_cast<float>(y);
  return {.box = {left, top, left + 40, top + 60}, .confidence = confidence};
}

/// Of the detections of the model.
constexpr double kConfidence = 0.6;

/// A tracker with a clock of 25 frames per second.
class Following {
 public:
  explicit Following(const std::string& options)
      : tracker_(make_tracker(settings_for(tracker_options(options), kConfidence), 25)) {}

  Ids frame(const std::vector<TrackedBox>& detections) {
    Ids ids(detections.size(), -1);
    tracker_->update(detections, time_, ids);
    time_ += milliseconds(40);
    return ids;
  }
  Following& wait(nanoseconds time) {
    time_ += time;
    return *this;
  }

 private:
  std::unique_ptr<ObjectTracker> tracker_;
  nanoseconds time_{};
};

class Trackers : public testing::TestWithParam<const char*> {
 protected:
  Following tracker_{GetParam()};

  /// Its number, after enough frames with it at X.
  std::int64_t confirmed(double x) {
    Ids ids;
    for (int i = 0; i < 6; ++i) ids = tracker_.frame({box_at(x)});
    EXPECT_GT(ids[0], 0);
    return ids[0];
  }
};

TEST_P(Trackers, ConfirmAnObjectThatStays) {
  EXPECT_EQ(tracker_.frame({box_at(10)}), Ids{0});
  const std::int64_t id = confirmed(10);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(tracker_.frame({box_at(10 + 5.0 * i)}), Ids{id}) << i;
}

TEST_P(Trackers, KeepTwoThatPassEachOther) {
  Ids first;
  for (int i = 0; i < 60; ++i) {
    const Ids ids = tracker_.frame({box_at(5.0 * i), box_at(300 - 5.0 * i, 65)});
    if (i == 10) first = ids;
    if (i > 10) {
      EXPECT_EQ(ids, first) << i;
    }
  }
  EXPECT_EQ((std::set<std::int64_t>(first.begin(), first.end()).size()), 2U);
}

TEST_P(Trackers, FindAnObjectAgainThatWasHidden) {
  const std::int64_t id = confirmed(10);
  for (int i = 0; i < 12; ++i) EXPECT_TRUE(tracker_.frame({}).empty());
  EXPECT_EQ(tracker_.frame({box_at(12)}), Ids{id});
}

TEST_P(Trackers, ForgetAnObjectAfterAWhile) {
  const std::int64_t id = confirmed(10);
  tracker_.wait(std::chrono::seconds(2));
  Ids ids;
  for (int i = 0; i < 6; ++i) ids = tracker_.frame({box_at(10)});
  EXPECT_GT(ids[0], id) << "a number is never used again";
}

/// What drops and outages do.
TEST_P(Trackers, FollowByTimeNotByFrames) {
  std::int64_t id = 0;
  double x = 0;
  for (int i = 0; i < 90; ++i) {
    x += 9;
    if (i > 20 && i % 3 != 0) {  // dropped: consecutive boxes have an IoU of 0.19
      tracker_.wait(milliseconds(40));
      continue;
    }
    const Ids ids = tracker_.frame({box_at(x)});
    if (i == 15) id = ids[0];
    if (i > 15) {
      EXPECT_EQ(ids, Ids{id}) << i;
    }
  }
  EXPECT_GT(id, 0);
}

/// Its frames are farther apart than a track is kept.
TEST_P(Trackers, FollowInASlowStream) {
  Ids ids;
  for (int i = 0; i < 20; ++i) ids = tracker_.wait(milliseconds(1960)).frame({box_at(10)});
  EXPECT_GT(ids[0], 0);
  const Ids before = ids;
  EXPECT_EQ(tracker_.wait(milliseconds(1960)).frame({box_at(10)}), before);
}

TEST_P(Trackers, AFrameThatIsNotLaterContinuesNothing) {
  const std::int64_t id = confirmed(10);
  tracker_.wait(milliseconds(-40));
  EXPECT_EQ(tracker_.frame({box_at(10)}), Ids{0});
  EXPECT_EQ(tracker_.frame({box_at(10)}), Ids{id});
}

TEST_P(Trackers, ConfirmNothingThatFlickers) {
  for (int i = 0; i < 40; ++i) {
    // After OC-SORT's first frames, in which everything is confirmed.
    const Ids ids = tracker_.frame(i > 10 && i % 3 == 0 ? std::vector{box_at(10)} : std::vector<TrackedBox>{});
    if (!ids.empty()) {
      EXPECT_EQ(ids, Ids{0}) << i;
    }
  }
}

TEST_P(Trackers, IgnoreBoxesThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::int64_t id = confirmed(10);
  const std::vector<TrackedBox> odd = {
      {{nan, 0, 1, 1}, 0.9F},   {{0, 0, infinity, 1}, 0.9F}, box_at(10),
      {{5, 5, 5, 5}, 0.9F},     {{9, 9, 1, 1}, 0.9F},        {{90, 90, 120, 120}, infinity},
      {{90, 90, 120, 120}, nan}};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tracker_.frame(odd)[2], id) << i;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Trackers, testing::Values("sort", "bytetrack", "ocsort"));

TEST(ByteTrack, LowConfidenceContinuesATrackAndBeginsNone) {
  Following tracker("bytetrack");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tracker.frame({box_at(10, 50, 0.3F)}), Ids{0});
  Ids ids;
  for (int i = 0; i < 3; ++i) ids = tracker.frame({box_at(10)});
  const std::int64_t id = ids[0];
  EXPECT_GT(id, 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(tracker.frame({box_at(10, 50, 0.3F)}), Ids{id});
}

TEST(OcSort, LowConfidenceIsNotUsed) {
  Following tracker("ocsort");
  Ids ids;
  for (int i = 0; i < 6; ++i) ids = tracker.frame({box_at(10)});
  EXPECT_GT(ids[0], 0);
  EXPECT_EQ(tracker.frame({box_at(10, 50, 0.3F)}), Ids{0});
}

TEST(ByteTrack, OneDetectionMayConfirm) {
  Following tracker("bytetrack:confirm=1");
  EXPECT_EQ(tracker.frame({box_at(10), box_at(200)}), (Ids{1, 2}));
}

std::string refused(const std::string& text) {
  try {
    tracker_options(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "accepted";
}

TEST(TrackerOptions, AreRead) {
  EXPECT_EQ(tracker_options("sort").kind, TrackerKind::kSort);
  const TrackerOptions options = tracker_options("ocsort:match=0.25,keep=2.5,confirm=4");
  EXPECT_EQ(options.kind, TrackerKind::kOcSort);
  EXPECT_EQ(options.match, 0.25);
  EXPECT_EQ(options.keep, milliseconds(2500));
  EXPECT_EQ(options.confirm, 4);
  EXPECT_EQ(options.high, std::nullopt);
  EXPECT_EQ(tracker_options("bytetrack:high=0.5,low=0.2").high, 0.5);
}

TEST(TrackerSettings, FollowTheConfidenceOfTheModel) {
  const TrackerSettings byte = settings_for(tracker_options("bytetrack"), 0.25);
  EXPECT_EQ(byte.high, 0.25);
  EXPECT_DOUBLE_EQ(byte.start, 0.35);
  EXPECT_EQ(settings_for(tracker_options("bytetrack"), 0.95).start, 1);
  const TrackerSettings given = settings_for(tracker_options("bytetrack:high=0.5,start=0.4"), 0.25);
  EXPECT_EQ(given.high, 0.5);
  EXPECT_EQ(given.start, 0.4);
  EXPECT_EQ(settings_for(tracker_options("ocsort"), 0.25).start, 0.25);
  EXPECT_EQ(settings_for(tracker_options("sort"), 0.25).high, 0);
  EXPECT_EQ(settings_for(tracker_options("sort"), 0.25).start, 0.25);
}

TEST(TrackerOptions, ThatAreWrongAreNamed) {
  EXPECT_EQ(refused("deepsort"), "unknown tracker 'deepsort': use bytetrack, ocsort or sort");
  EXPECT_EQ(refused("sort:max_age=3"), "sort has no setting 'max_age': use start, match, confirm, keep or camera");
  EXPECT_EQ(refused("sort:match=2"), "'match=2': match must be a number from 0 to 1");
  EXPECT_EQ(refused("sort:confirm=1.5"), "'confirm=1.5': confirm must be an integer from 1 to 1000");
  EXPECT_EQ(refused("sort:match"), "'match' needs a value, a number from 0 to 1");
  EXPECT_EQ(refused("sort:match=nan"), "'match=nan': match must be a number from 0 to 1");
}

TEST(TrackerOptions, OfAnotherTrackerAreRefused) {
  EXPECT_EQ(refused("sort:high=0.5"), "sort has no setting 'high': use start, match, confirm, keep or camera");
  EXPECT_EQ(refused("ocsort:low=0.1"),
            "ocsort has no setting 'low': use high, start, match, confirm, keep, direction or camera");
  EXPECT_EQ(refused("bytetrack:direction=1"),
            "bytetrack has no setting 'direction': use low, high, start, match, confirm, keep or camera");
  EXPECT_EQ(refused("ocsort:high=0.5,direction=1"), "accepted");
}

TEST(TrackerOptions, OfAProgramAreChecked) {
  check_tracker_options({});
  const auto message = [](const TrackerOptions& options) -> std::string {
    try {
      check_tracker_options(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({.low = -1}), "the tracker's low must be a number from 0 to 1, not -1");
  EXPECT_EQ(message({.high = std::nan("")}), "the tracker's high must be a number from 0 to 1, not nan");
  EXPECT_EQ(message({.confirm = 0}), "the tracker's confirm must be an integer from 1 to 1000, not 0");
  EXPECT_EQ(message({.keep = std::chrono::hours(2)}), "the tracker's keep must be a number from 0 to 3600, not 7200");
}

}  // namespace
}  // namespace saccade
