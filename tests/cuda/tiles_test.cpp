#include "saccade/tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "saccade/saccade.hpp"
#include "support/bright_frame.hpp"
#include "support/tile_models.hpp"
#include "support/tracker_models.hpp"

namespace saccade {
namespace {

/// A dark frame with white squares, in a format whose pixels share chroma samples.
test::BrightFrame squares(int width, int height, unsigned seed) {
  test::BrightFrame frame(PixelFormat::kI420, width, height);
  std::mt19937 random(seed);
  for (int i = 0; i < 6; ++i) {
    const int left = static_cast<int>(random() % static_cast<unsigned>(width - 9));
    const int top = static_cast<int>(random() % static_cast<unsigned>(height - 9));
    frame.fill({left, top, 9, 9}, 235);
  }
  return frame;
}

// One captured graph runs on tiles of frames of any size.
TEST(CudaTiles, EqualThoseOfTheReference) {
  const test::TempFolder folder;
  const std::string file = test::write_blob_detector(folder);
  const auto results_on = [&](const Device& device) {
    FrameSession session(Model::load(file, {.device = device, .tiles = TileOptions{.size = 32, .overlap = 0.25F}}));
    std::vector<std::vector<std::array<float, 4>>> boxes;
    for (const auto& [width, height] : {std::pair(101, 75), {64, 128}, {32, 32}, {97, 40}}) {
      const test::BrightFrame frame = squares(width, height, 7);
      boxes.emplace_back();
      for (const Detection& each : session.run(frame.view()).detections) boxes.back().push_back(each.box);
    }
    return boxes;
  };
  const auto expected = results_on(Device::reference());
  EXPECT_GT(expected[0].size(), 1U);
  EXPECT_EQ(results_on(Device::cuda()), expected);
}

TEST(CudaTiles, MakeTheSameImageAsTheReference) {
  const test::TempFolder folder;
  const std::string file = test::write_bicubic(folder, 48, 48, 1, "larger");
  const test::BrightFrame frame = squares(101, 75, 3);
  const auto image_on = [&](const Device& device) {
    FrameSession session(Model::load(file, {.device = device}));
    const FrameView image = session.run(frame.view()).image;
    EXPECT_EQ(image.width, 303);
    EXPECT_EQ(image.height, 225);
    std::vector<int> bytes;
    for (int y = 0; y < image.height; ++y)
      for (int i = 0; i < 3 * image.width; ++i) bytes.push_back(image.planes[0][y * image.pitch_bytes[0] + i]);
    return bytes;
  };
  const std::vector<int> expected = image_on(Device::reference());
  const std::vector<int> found = image_on(Device::cuda());
  int most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) most = std::max(most, std::abs(found[i] - expected[i]));
  EXPECT_LE(most, 1) << "a value between two bytes may be rounded to either";
}

// The target's image is an input of its own. The search image crosses the frame's border at last.
TEST(CudaTiles, FollowAnObjectAsTheReference) {
  const test::TempFolder folder;
  const std::string file = test::write_color_tracker(folder);
  const auto boxes_on = [&](const Device& device) {
    FrameSession session(Model::load(file, {.device = device, .target = Region{60, 40, 20, 20}}));
    std::vector<std::array<float, 4>> boxes;
    for (int i = 0; i < 12; ++i) {
      test::BrightFrame frame(PixelFormat::kNv12, 160, 121);
      frame.fill({60 + 4 * i, 40 + 3 * i, 20, 20}, 235);
      for (const Detection& each : session.run(frame.view()).detections) boxes.push_back(each.box);
    }
    return boxes;
  };
  const auto expected = boxes_on(Device::reference());
  EXPECT_EQ(expected.size(), 12U);
  EXPECT_EQ(boxes_on(Device::cuda()), expected);
}

}  // namespace
}  // namespace saccade
