#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "vision/tracking/object_tracker.hpp"

namespace saccade {
namespace {

/// A frame of tracker_cases.txt.
struct CaseFrame {
  std::chrono::nanoseconds time{};
  std::vector<TrackedBox> boxes;
  std::array<std::vector<std::int64_t>, 3> ids;  ///< of sort, bytetrack, ocsort
};

struct CaseScene {
  bool has_drops = false;
  std::vector<CaseFrame> frames;
};

CaseFrame case_frame(std::istream& stream) {
  std::int64_t time = 0;
  std::size_t count = 0;
  stream >> time >> count;
  CaseFrame frame{.time = std::chrono::nanoseconds(time), .boxes = std::vector<TrackedBox>(count), .ids = {}};
  for (TrackedBox& box : frame.boxes) {
    for (float& side : box.box) stream >> side;
    stream >> box.confidence;
    for (auto& ids : frame.ids) stream >> ids.emplace_back();
  }
  return frame;
}

std::vector<CaseScene> case_scenes() {
  std::ifstream stream(SACCADE_SOURCE "/tests/vision/tracking/tracker_cases.txt");
  std::string word;
  std::getline(stream, word);
  std::vector<CaseScene> scenes;
  std::size_t frames = 0;
  int has_drops = 0;
  while (stream >> word >> frames >> has_drops) {
    CaseScene& scene = scenes.emplace_back();
    scene.has_drops = has_drops == 1;
    while (scene.frames.size() < frames) scene.frames.push_back(case_frame(stream));
    EXPECT_FALSE(stream.fail());
  }
  return scenes;
}

std::vector<std::int64_t> ids_of(ObjectTracker& tracker, const CaseFrame& frame) {
  std::vector<std::int64_t> ids(frame.boxes.size(), -1);
  tracker.update(frame.boxes, frame.time, ids);
  return ids;
}

constexpr double kRate = 30;

TEST(TrackerCases, SortAndByteTrackEqualRoboflows) {
  const std::array names = {"sort", "bytetrack"};
  const std::array confidences = {0.25, 0.6};
  ASSERT_EQ(case_scenes().size(), 4U);
  for (const CaseScene& scene : case_scenes())
    for (std::size_t i = 0; i < names.size(); ++i) {
      SCOPED_TRACE(names[i]);
      const auto tracker = make_tracker(settings_for(tracker_options(names[i]), confidences[i]), kRate);
      for (const CaseFrame& frame : scene.frames) EXPECT_EQ(ids_of(*tracker, frame), frame.ids[i]);
    }
}

/// Theirs withholds numbers after a gap, and measures gaps otherwise where frames were dropped.
TEST(TrackerCases, OcSortEqualsRoboflowsWhereThatGivesANumber) {
  int compared = 0;
  for (const CaseScene& scene : case_scenes()) {
    if (scene.has_drops) continue;
    const auto tracker = make_tracker(settings_for(tracker_options("ocsort"), 0.6), kRate);
    for (const CaseFrame& frame : scene.frames) {
      const auto ids = ids_of(*tracker, frame);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (frame.ids[2][i] == 0) continue;
        EXPECT_EQ(ids[i], frame.ids[2][i]);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace saccade
