#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "media/convert.hpp"
#include "support/mosaic_frame.hpp"
#include "tensor/frame.hpp"

namespace saccade {
namespace {

std::vector<std::uint8_t> rgb_of(const FrameView& frame) {
  std::vector<std::uint8_t> pixels(3 * static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height));
  to_rgb(frame, {pixels.data(), 3 * frame.width, frame.width, frame.height});
  return pixels;
}

/// Whether all pixels around X, Y of REGION are its own.
bool is_inside(const Region& region, int x, int y) {
  return x > 0 && y > 0 && x + 1 < region.width && y + 1 < region.height;
}

TEST(Crop, HasTheFramesPixelsInEveryFormatAndOddSizes) {
  std::mt19937 random(9);
  for (const PixelFormat format : kPixelFormats) {
    for (const auto& [width, height] : {std::pair(31, 17), {40, 24}, {7, 9}}) {
      std::vector<std::byte> memory(frame_bytes(format, width, height));
      for (std::byte& sample : memory) sample = static_cast<std::byte>(random());
      const FrameBuffer buffer{memory.data(), memory.size()};
      const FrameView frame = lay_out(buffer, format, width, height);
      const std::vector<std::uint8_t> whole = rgb_of(frame);
      for (const Region& region : {Region{2, 4, 5, 5}, Region{6, 0, 1, 9}, Region{0, 8, 7, 1}, Region{4, 2, 3, 6}}) {
        const std::vector<std::uint8_t> part = rgb_of(crop(frame, region));
        for (int y = 0; y < region.height; ++y)
          for (int i = 0; i < 3 * region.width; ++i) {
            // What is outside of a mosaic's part does not contribute to its colours.
            if (is_mosaic(format) && !is_inside(region, i / 3, y)) continue;
            ASSERT_EQ(part[static_cast<std::size_t>(3 * region.width * y + i)],
                      whole[static_cast<std::size_t>(3 * width * (region.y + y) + 3 * region.x + i)])
                << to_string(format) << ' ' << width << 'x' << height << " at " << region.x << ',' << region.y;
          }
      }
    }
  }
}

TEST(Crop, OfAMosaicIsAFrameOfItsOwn) {
  const test::MosaicFrame frame(PixelFormat::kBayerGbrg8, 11, 9);
  for (const Region& region : {Region{4, 2, 7, 6}, Region{2, 2, 1, 1}, Region{0, 4, 2, 5}}) {
    const FrameView part = crop(frame.view(), region);
    EXPECT_EQ(rgb_of(part), test::mosaic_rgb(part));
  }
}

TEST(Crop, KeepsOddOffsetsWhereEachPixelHasItsOwnSamples) {
  std::vector<std::uint8_t> pixels(3 * 5 * 5);
  const FrameView frame = view_of(RgbView{pixels.data(), 15, 5, 5});
  EXPECT_EQ(crop(frame, {1, 3, 2, 2}).planes[0], pixels.data() + 45 + 3);
}

}  // namespace
}  // namespace saccade
