#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <cmath>

#include "saccade/saccade.hpp"
#include "support/bright_frame.hpp"
#include "support/cpu_model.hpp"
#include "support/tiny_models.hpp"
#include "support/tracker_models.hpp"

// A tracker of one object: which images it sees, and what it remembers from frame to frame.
namespace saccade {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kObjectSide = 20;

Region object_at(int x, int y) { return {x, y, kObjectSide, kObjectSide}; }

std::array<float, 4> corners(const Region& region) {
  return {static_cast<float>(region.x), static_cast<float>(region.y), static_cast<float>(region.x + region.width),
          static_cast<float>(region.y + region.height)};
}

/// OBJECT, white on black.
test::BrightFrame showing(PixelFormat format, const Region& object) {
  test::BrightFrame frame(format, 160, 121);
  const int left = std::max(object.x, 0);
  const int top = std::max(object.y, 0);
  const Region inside{left, top, std::min(object.x + object.width, 160) - left,
                      std::min(object.y + object.height, 121) - top};
  frame.fill(inside, 235);
  return frame;
}

float overlap(const std::array<float, 4>& a, const std::array<float, 4>& b) {
  const auto area = [](const std::array<float, 4>& box) {
    return std::max(0.0F, box[2] - box[0]) * std::max(0.0F, box[3] - box[1]);
  };
  const float both = area({std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  return both / (area(a) + area(b) - both);
}

class Tracker : public testing::Test {
 protected:
  Model model(ModelOptions options = {}) { return test::load_on_cpu(test::write_color_tracker(folder_), options); }
  std::string refusal(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "";
  }

  test::TempFolder folder_;
};

TEST_F(Tracker, FollowsAnObjectInEveryFormat) {
  const Model model = this->model();
  for (const PixelFormat format : kPixelFormats) {
    FrameSession session(model);
    session.follow(corners(object_at(40, 40)));
    for (int i = 0; i < 30; ++i) {
      const Region object = object_at(40 + 3 * i, 40 + static_cast<int>(std::lround(30 * std::sin(0.3 * i))));
      const test::BrightFrame frame = showing(format, object);
      const Result& result = session.run(frame.view());
      EXPECT_EQ(result.task, Task::kTrack);
      ASSERT_EQ(result.detections.size(), 1U) << to_string(format) << ' ' << i;
      EXPECT_GT(overlap(result.detections[0].box, corners(object)), 0.6F) << to_string(format) << ' ' << i;
    }
  }
}

TEST_F(Tracker, TheFirstFrameHasTheBoxThatWasGiven) {
  FrameSession session(model({.target = object_at(30, 50)}));
  const test::BrightFrame frame = showing(PixelFormat::kRgb24, object_at(31, 52));
  const Result& first = session.run(frame.view());
  ASSERT_EQ(first.detections.size(), 1U);
  EXPECT_EQ(first.detections[0].box, corners(object_at(30, 50)));
  EXPECT_EQ(first.detections[0].confidence, 1);
  EXPECT_EQ(first.detections[0].class_name, "object");
  const Result& second = session.run(frame.view());
  EXPECT_LT(second.detections.at(0).confidence, 1);
}

TEST_F(Tracker, FollowsAnObjectAcrossTheBorderAndFindsItAgain) {
  FrameSession session(model({.target = object_at(120, 90)}));
  const auto run = [&](const Region& object) {
    return session.run(showing(PixelFormat::kI420, object).view()).detections;
  };
  for (int i = 0; i <= 10; ++i) run(object_at(120 + 3 * i, 90 + i));
  // Half of it is outside: the box ends at the border.
  const std::vector<Detection> half = run(object_at(152, 101));
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].box[2], 160);
  EXPECT_GT(half[0].box[2] - half[0].box[0], 9);
  // Nothing is left of it: the search goes on where it was.
  EXPECT_TRUE(run(object_at(159, 120)).empty());
  EXPECT_TRUE(run(object_at(159, 120)).empty());
  const Region back = object_at(138, 99);
  ASSERT_EQ(run(back).size(), 1U);
  // The network does not tell the size: that of the cut box remains.
  const auto [x1, y1, x2, y2] = run(back).at(0).box;
  EXPECT_NEAR((x1 + x2) / 2, 148, 5);
  EXPECT_NEAR((y1 + y2) / 2, 109, 5);
}

TEST_F(Tracker, FollowReplacesTheObject) {
  FrameSession session(model({.target = object_at(30, 50)}));
  session.run(showing(PixelFormat::kRgb24, object_at(30, 50)).view());
  session.follow(corners(object_at(100, 20)));
  for (int i = 0; i < 3; ++i) {
    const Result& result = session.run(showing(PixelFormat::kRgb24, object_at(100 + i, 20)).view());
    ASSERT_EQ(result.detections.size(), 1U);
    EXPECT_GT(overlap(result.detections[0].box, corners(object_at(100 + i, 20))), 0.6F);
  }
}

TEST_F(Tracker, ASmallOrLargeObjectIsSearchedInItsOwnScale) {
  for (const int side : {4, 60}) {
    FrameSession session(model());
    const Region object{50, 40, side, side};
    session.follow(corners(object));
    const test::BrightFrame frame = showing(PixelFormat::kNv12, object);
    session.run(frame.view());
    const Result& result = session.run(frame.view());
    ASSERT_EQ(result.detections.size(), 1U) << side;
    // Boxes have at least 10 pixels per side.
    const auto& [x1, y1, x2, y2] = result.detections[0].box;
    EXPECT_NEAR(x2 - x1, std::max(side, 10), 0.1F * static_cast<float>(side) + 0.5F);
    EXPECT_NEAR(y2 - y1, std::max(side, 10), 0.1F * static_cast<float>(side) + 0.5F);
  }
}

TEST_F(Tracker, WhatItCannotDoIsRefused) {
  const test::BrightFrame frame = showing(PixelFormat::kRgb24, object_at(30, 50));
  FrameSession session(model());
  EXPECT_THAT(refusal([&] { session.run(frame.view()); }), HasSubstr("FrameSession::follow()"));
  for (const std::array<float, 4>& box : {std::array<float, 4>{10, 10, 10, 20},
                                          {20, 10, 10, 20},
                                          {NAN, 0, 10, 10},
                                          {0, 0, INFINITY, 10},
                                          {0, 0, 1e30F, 1e30F}})
    EXPECT_THAT(refusal([&] { session.follow(box); }), HasSubstr("is not one of at least a pixel"));
  session.follow({200, 10, 220, 30});
  EXPECT_THAT(refusal([&] { session.run(frame.view()); }), HasSubstr("lies outside of the frame of 160x121 pixels"));
  EXPECT_THAT(refusal([&] { FrameSession{model({.tiles = TileOptions{}})}; }), HasSubstr("without --tiles"));
  EXPECT_THAT(refusal([&] { FrameSession{model({.roi = Region{0, 0, 8, 8}})}; }), HasSubstr("no region of interest"));
  const std::string detector = test::write_box_detector(folder_);
  EXPECT_THAT(refusal([&] { FrameSession{test::load_on_cpu(detector, {.target = object_at(0, 0)})}; }),
              HasSubstr("the model's task is detect: only a tracker of one object takes --target"));
  EXPECT_THAT(refusal([&] {
                FrameSession{model({.target = Region{INT_MAX, 0, INT_MAX, 9}})};
              }),
              HasSubstr("is not one of at least a pixel"));
  FrameSession boxes(test::load_on_cpu(detector));
  EXPECT_THAT(refusal([&] { boxes.follow({0, 0, 8, 8}); }), HasSubstr("only a tracker follows an object"));
}

TEST_F(Tracker, APipelineNeedsATargetAndOneSource) {
  const auto synthetic = [] { return Source::open("synthetic:?size=160x120"); };
  EXPECT_THAT(refusal([&] { Pipeline(synthetic(), model()); }), HasSubstr("--target X,Y,W,H"));
  const auto two = [&] {
    std::vector<Source> sources;
    sources.push_back(synthetic());
    sources.push_back(synthetic());
    return sources;
  };
  EXPECT_THAT(refusal([&] { Pipeline(two(), {model({.target = object_at(0, 0)})}); }),
              HasSubstr("follows one object in one source, but there are 2"));
  Pipeline pipeline(synthetic(), model({.target = object_at(8, 8)}), {.max_frames = 3});
  int frames = 0;
  for (const Result& result : pipeline) frames += result.task == Task::kTrack ? 1 : 0;
  EXPECT_EQ(frames, 3);
}

}  // namespace
}  // namespace saccade
