#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace saccade {

/// Pixel formats, named as in FFmpeg and V4L2; 8 bits per sample.
///
/// The Bayer formats are the mosaics of sensors: one sample per pixel. A pixel's other two colours are the rounded
/// means of their two or four samples around it; samples beyond the frame's borders are mirrored at the outermost ones.
enum class PixelFormat : std::uint8_t {
  kRgb24,       ///< one plane, R G B
  kBgr24,       ///< one plane, B G R
  kGray8,       ///< one plane
  kI420,        ///< planes Y, U, V; 4:2:0
  kI422,        ///< planes Y, U, V; 4:2:2
  kI444,        ///< planes Y, U, V
  kNv12,        ///< planes Y, UV interleaved; 4:2:0
  kYuyv,        ///< one plane, Y0 U Y1 V
  kUyvy,        ///< one plane, U Y0 V Y1
  kBayerRggb8,  ///< one plane; the first two samples of the first two rows are R G, G B
  kBayerGrbg8,  ///< one plane; G R, B G
  kBayerGbrg8,  ///< one plane; G B, R G
  kBayerBggr8,  ///< one plane; B G, G R
};
/// "rgb24", "bgr24", "gray8", "i420", "i422", "i444", "nv12", "yuyv", "uyvy", "bayer_rggb8", "bayer_grbg8",
/// "bayer_gbrg8", "bayer_bggr8"
std::string_view to_string(PixelFormat format);

/// The weights of red, green and blue in luma, by their ITU-R recommendation.
enum class ColorMatrix : std::uint8_t {
  kBt601,   ///< standard definition
  kBt709,   ///< high definition
  kBt2020,  ///< ultra high definition
};
/// "bt601", "bt709", "bt2020"
std::string_view to_string(ColorMatrix matrix) noexcept;

/// The values that black and white have in luma.
enum class ColorRange : std::uint8_t {
  kLimited,  ///< 16 and 235; chroma from 16 to 240
  kFull,     ///< 0 and 255
};
/// "limited", "full"
std::string_view to_string(ColorRange range) noexcept;

/// Memory in which the samples are stored.
enum class MemoryKind : std::uint8_t {
  kPlain,   ///< of the host
  kPinned,  ///< of the host, page-locked: a GPU reads it directly
  kDevice,  ///< of a GPU
  kDmabuf,  ///< a Linux DMA buffer
};
/// "plain", "pinned", "device", "dmabuf"
std::string_view to_string(MemoryKind kind) noexcept;

/// A non-owning view of an image, the input of pixel kernels. All fields are run-time parameters.
struct FrameView {
  PixelFormat format = PixelFormat::kRgb24;     ///< layout of the samples
  ColorMatrix matrix = ColorMatrix::kBt601;     ///< of YUV formats
  ColorRange range = ColorRange::kLimited;      ///< of YUV formats and kGray8
  MemoryKind memory = MemoryKind::kPlain;       ///< where the samples are
  int width = 0;                                ///< pixels
  int height = 0;                               ///< pixels
  std::array<const std::uint8_t*, 3> planes{};  ///< first sample per plane; null: no such plane
  std::array<int, 3> pitch_bytes{};             ///< row stride per plane
  int device = -1;                              ///< of MemoryKind::kDevice: the GPU's ordinal; else -1
  const void* ready = nullptr;  ///< of MemoryKind::kDevice: a CUevent after which the samples are there; null: they are
};

}  // namespace saccade
