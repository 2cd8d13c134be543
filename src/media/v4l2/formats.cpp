#include "media/v4l2/formats.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/error.hpp"

namespace saccade::v4l2 {
namespace {

// The estimates of JPEG: 2 bits per pixel, as webcams' encoders are set, and libjpeg-turbo's decoder without the
// conversion to RGB on one core.
constexpr double kJpegBytes = 0.25;
constexpr double kJpegNanoseconds = 4;

// What preprocessing reads is not converted. Less of it on the bus comes first.
constexpr std::array<CameraFormat, 14> kFormats = {{
    {V4L2_PIX_FMT_NV12, "NV12", PixelFormat::kNv12, 1.5},
    {V4L2_PIX_FMT_YUV420, "YU12", PixelFormat::kI420, 1.5},
    {V4L2_PIX_FMT_YUYV, "YUYV", PixelFormat::kYuyv, 2},
    {V4L2_PIX_FMT_UYVY, "UYVY", PixelFormat::kUyvy, 2},
    {V4L2_PIX_FMT_YUV422P, "422P", PixelFormat::kI422, 2},
    {V4L2_PIX_FMT_RGB24, "RGB24", PixelFormat::kRgb24, 3},
    {V4L2_PIX_FMT_BGR24, "BGR24", PixelFormat::kBgr24, 3},
    {V4L2_PIX_FMT_MJPEG, "MJPEG", std::nullopt, kJpegBytes, kJpegNanoseconds},
    {V4L2_PIX_FMT_JPEG, "JPEG", std::nullopt, kJpegBytes, kJpegNanoseconds},
    {V4L2_PIX_FMT_SRGGB8, "RGGB", PixelFormat::kBayerRggb8, 1},
    {V4L2_PIX_FMT_SGRBG8, "GRBG", PixelFormat::kBayerGrbg8, 1},
    {V4L2_PIX_FMT_SGBRG8, "GBRG", PixelFormat::kBayerGbrg8, 1},
    {V4L2_PIX_FMT_SBGGR8, "BGGR", PixelFormat::kBayerBggr8, 1},  // "BA81" in V4L2
    {V4L2_PIX_FMT_GREY, "GREY", PixelFormat::kGray8, 1, 0, false},
}};

std::string in_capitals(std::string_view text) {
  std::string capitals(text);
  std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
  return capitals;
}

}  // namespace

std::span<const CameraFormat> camera_formats() { return kFormats; }

const CameraFormat* find_format(std::uint32_t code) {
  const auto found = std::ranges::find(kFormats, code, &CameraFormat::code);
  return found == kFormats.end() ? nullptr : &*found;
}

const CameraFormat* find_format(std::string_view name) {
  const std::string capitals = in_capitals(name);
  const auto found = std::ranges::find_if(kFormats, [&](const CameraFormat& format) {
    return format.name == capitals || four_characters(format.code) == capitals;
  });
  return found == kFormats.end() ? nullptr : &*found;
}

std::string four_characters(std::uint32_t code) {
  std::string characters;
  for (int i = 0; i < 4; ++i) {
    // The highest bit marks big-endian samples.
    const auto character = static_cast<unsigned char>(code >> (8 * i) & (i == 3 ? 0x7F : 0xFF));
    if (std::isprint(character) == 0) return fmt::format("{:#010x}", code);
    characters += static_cast<char>(character);
  }
  // Short codes end with spaces.
  return characters.substr(0, characters.find_last_not_of(' ') + 1);
}

}  // namespace saccade::v4l2
