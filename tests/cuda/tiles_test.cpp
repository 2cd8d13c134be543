#include "saccade/tiles.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "saccade/saccade.hpp"
#include "support/tile_models.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

/// A dark frame with white squares, in a format whose pixels share chroma samples.
class SquaresFrame {
 public:
  SquaresFrame(int width, int height, unsigned seed)
      : memory_(frame_bytes(PixelFormat::kI420, width, height), std::byte{128}),
        view_(lay_out({memory_.data(), memory_.size()}, PixelFormat::kI420, width, height)) {
    std::mt19937 random(seed);
    auto* luma = reinterpret_cast<std::uint8_t*>(memory_.data());
    for (int y = 0; y < height; ++y) std::fill_n(luma + y * view_.pitch_bytes[0], width, std::uint8_t{16});
    for (int i = 0; i < 6; ++i) {
      const int left = static_cast<int>(random() % static_cast<unsigned>(width - 9));
      const int top = static_cast<int>(random() % static_cast<unsigned>(height - 9));
      for (int y = top; y < top + 9; ++y) std::fill_n(luma + y * view_.pitch_bytes[0] + left, 9, std::uint8_t{235});
    }
  }
  const FrameView& view() const { return view_; }

 private:
  std::vector<std::byte> memory_;
  FrameView view_;
};

// One captured graph runs on tiles of frames of any size.
TEST(CudaTiles, EqualThoseOfTheReference) {
  const test::TempFolder folder;
  const std::string file = test::write_blob_detector(folder);
  const auto results_on = [&](const Device& device) {
    FrameSession session(Model::load(file, {.device = device, .tiles = TileOptions{.size = 32, .overlap = 0.25F}}));
    std::vector<std::vector<std::array<float, 4>>> boxes;
    for (const auto& [width, height] : {std::pair(101, 75), {64, 128}, {32, 32}, {97, 40}}) {
      const SquaresFrame frame(width, height, 7);
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
  const SquaresFrame frame(101, 75, 3);
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

}  // namespace
}  // namespace saccade
