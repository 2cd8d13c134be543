#include "serve/request_image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "media/images.hpp"
#include "saccade/image.hpp"

namespace saccade::serve {
namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 256;  // rows of the image are not padded, turned or not
constexpr std::size_t kBytes = std::size_t{3} * kWidth * kHeight;
constexpr std::int64_t kMostPixels = kWidth * kHeight;

Image gradient() {
  Image image(PixelFormat::kRgb24, kWidth, kHeight);
  for (std::size_t i = 0; i < kBytes; ++i) image.samples()[i] = static_cast<std::uint8_t>(i / 900);
  return image;
}

/// Whether REGIONS have room for BYTES.
bool has_room(MemoryRegions& regions, std::size_t bytes) { return regions.reserve(bytes) != nullptr; }

TEST(RequestImage, IsTheImageAndCountsAsLongAsItLives) {
  MemoryRegions regions({.most_bytes = kBytes});
  const std::string file = encode_jpeg(gradient());
  {
    RequestImage image(regions);
    ASSERT_TRUE(image.decode(test::bytes_of(file), kMostPixels));
    const Image wanted = decode_image(test::bytes_of(file));
    EXPECT_EQ(image.view().width, kWidth);
    for (int y = 0; y < kHeight; ++y) {
      const std::uint8_t* row = image.view().planes[0] + std::ptrdiff_t{y} * image.view().pitch_bytes[0];
      ASSERT_TRUE(std::equal(row, row + 3 * kWidth, wanted.samples().data() + std::size_t{3} * kWidth * y)) << y;
    }
    EXPECT_FALSE(has_room(regions, 1));
  }
  EXPECT_TRUE(has_room(regions, kBytes));
}

TEST(RequestImage, WithoutRoomNothingIsDecoded) {
  const std::string file = encode_jpeg(gradient());
  // An image that is turned is decoded into a buffer of the same size.
  const std::pair<std::string, std::size_t> cases[] = {{file, kBytes}, {test::with_orientation(file, 6), 2 * kBytes}};
  for (const auto& [bytes, needed] : cases) {
    MemoryRegions regions({.most_bytes = needed});
    for (const std::size_t held : {std::size_t{1}, needed - kBytes + 1, needed}) {
      const PendingBytes others = regions.reserve(held);
      RequestImage image(regions);
      EXPECT_FALSE(image.decode(test::bytes_of(bytes), kMostPixels)) << held;
      EXPECT_TRUE(has_room(regions, needed - held));
    }
    RequestImage image(regions);
    EXPECT_TRUE(image.decode(test::bytes_of(bytes), kMostPixels));
    EXPECT_TRUE(has_room(regions, needed - kBytes));
  }
}

TEST(RequestImage, WhatIsWrongWithAFileIsThrown) {
  MemoryRegions regions({.most_bytes = kBytes});
  const std::string file = encode_jpeg(gradient());
  const auto message_of = [&](std::string_view bytes, std::int64_t most_pixels) -> std::string {
    RequestImage image(regions);
    try {
      image.decode(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), most_pixels);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidFile);
      return error.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message_of("text", kMostPixels), HasSubstr("neither a JPEG nor a PNG"));
  EXPECT_THAT(message_of(std::string_view(file).substr(0, file.size() / 2), kMostPixels), HasSubstr("damaged"));
  EXPECT_THAT(message_of(file, kMostPixels - 1), HasSubstr("320x256"));
  EXPECT_THAT(message_of(test::with_orientation(file, 6), kMostPixels),
              HasSubstr("more than the 240.0 KiB that the server has"));
  EXPECT_TRUE(has_room(regions, kBytes));
}

}  // namespace
}  // namespace saccade::serve
