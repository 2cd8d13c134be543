#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace saccade {

/// Pixel formats, as FFmpeg and V4L2 name them; 8 bits a sample.
enum class PixelFormat : std::uint8_t {
  kRgb24,  ///< one plane, R G B
  kBgr24,  ///< one plane, B G R
  kGray8,  ///< one plane
  kI420,   ///< planes Y, U, V; chroma halved both ways
  kI422,   ///< planes Y, U, V; chroma halved across
  kI444,   ///< planes Y, U, V
  kNv12,   ///< planes Y, UV interleaved; chroma halved both ways
  kYuyv,   ///< one plane, Y0 U Y1 V
  kUyvy,   ///< one plane, U Y0 V Y1
};
std::string_view to_string(PixelFormat format);

enum class ColorMatrix : std::uint8_t { kBt601, kBt709, kBt2020 };
enum class ColorRange : std::uint8_t { kLimited, kFull };
/// Where the samples live.
enum class MemoryKind : std::uint8_t { kPlain, kPinned, kDevice, kDmabuf };

/// Borrowed pixels: what a pixel kernel takes. Everything here is a run-time parameter.
struct FrameView {
  PixelFormat format = PixelFormat::kRgb24;
  ColorMatrix matrix = ColorMatrix::kBt601;
  ColorRange range = ColorRange::kLimited;
  MemoryKind memory = MemoryKind::kPlain;
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
  std::array<const std::uint8_t*, 3> planes{};
  std::array<int, 3> pitch_bytes{};  ///< from one row of a plane to the next
};

}  // namespace saccade
