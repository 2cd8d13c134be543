#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "saccade/frame.hpp"

namespace saccade {

/// An image of one plane that owns its samples: rows from top to bottom, without padding. A copy is deep.
class Image {
 public:
  /// No image: 0 x 0 pixels.
  Image() = default;
  /// WIDTH x HEIGHT pixels, all samples 0. FORMAT is kRgb24, kBgr24 or kGray8. Throws Error (kUnsupported) for another
  /// one, (kInvalidArgument) for a side below 1 or above 2^28 pixels.
  Image(PixelFormat format, int width, int height);

  /// Whether there is no image.
  bool empty() const noexcept { return samples_.empty(); }
  /// The order of the samples of a pixel.
  PixelFormat format() const noexcept { return format_; }
  /// In pixels.
  int width() const noexcept { return width_; }
  /// In pixels.
  int height() const noexcept { return height_; }
  /// Bytes per row.
  int pitch_bytes() const noexcept { return format_ == PixelFormat::kGray8 ? width_ : 3 * width_; }
  /// All samples, row by row. Valid until the image is moved, assigned or destroyed.
  std::span<std::uint8_t> samples() noexcept { return samples_; }
  /// All samples, row by row. Valid until the image is moved, assigned or destroyed.
  std::span<const std::uint8_t> samples() const noexcept { return samples_; }
  /// The image as a frame in full range. Valid until the image is moved, assigned or destroyed.
  FrameView view() const noexcept;

 private:
  PixelFormat format_ = PixelFormat::kRgb24;
  int width_ = 0;
  int height_ = 0;
  std::vector<std::uint8_t> samples_;
};

/// FRAME as RGB or BGR of the same size, by its matrix and range, rounded to nearest. Chroma is replicated to all
/// pixels that share a sample. FORMAT is kRgb24 or kBgr24. Throws Error (kUnsupported) for another one,
/// (kInvalidArgument) if FRAME has no size, lacks a plane, has a pitch shorter than a row, or is not readable on the
/// host. Any thread.
Image convert(const FrameView& frame, PixelFormat format);

/// The image file at PATH in FORMAT (kRgb24 or kBgr24), upright as its EXIF orientation says. Formats are those of
/// Source::open(). Throws Error naming the file if it is missing, damaged or of another kind, (kUnsupported) for
/// another FORMAT. Any thread.
Image load_image(const std::string& path, PixelFormat format = PixelFormat::kRgb24);

/// The same of the bytes of a JPEG or PNG FILE. Throws Error (kInvalidFile) if it is damaged, of another kind, or
/// declares more than MAX_PIXELS. Any thread.
Image decode_image(std::span<const std::uint8_t> file, PixelFormat format = PixelFormat::kRgb24,
                   std::int64_t max_pixels = std::int64_t{1} << 28);

/// Writes IMAGE to PATH by its ending: JPEG (.jpg, .jpeg) or PNG (.png); kGray8 as PNG only. Throws Error naming the
/// file. Any thread.
void save_image(const std::string& path, const Image& image);

/// IMAGE as the bytes of a JPEG file of QUALITY, 1 to 100, with 4:2:0 chroma. Throws Error (kInvalidArgument) for
/// another quality, (kUnsupported) for kGray8 and a side above 65500 pixels. Any thread.
std::string encode_jpeg(const Image& image, int quality = 90);

}  // namespace saccade
