#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "media/modules.hpp"

namespace saccade {

/// An image's stored size and orientation.
struct ImageHeader {
  int width = 0;
  int height = 0;
  int orientation = 1;            ///< EXIF's, 1 to 8
  std::size_t working_bytes = 0;  ///< that decode() allocates, if they grow with the image
};

/// The decoder of one format, reusable for any number of files. noexcept, because the C libraries return by longjmp.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  /// Reads the header of FILE, which must outlive decode(). False: see error().
  virtual bool begin(std::span<const std::uint8_t> file, ImageHeader& header) noexcept = 0;
  /// Decodes what begin() started as RGB24. False: see error(); the pixels are unspecified.
  virtual bool decode(std::uint8_t* rgb, int pitch_bytes) noexcept = 0;
  virtual const char* error() const noexcept = 0;
};

std::unique_ptr<ImageDecoder> make_jpeg_decoder();
std::unique_ptr<ImageDecoder> make_png_decoder();

std::unique_ptr<JpegPlaneDecoder> make_jpeg_plane_decoder();

/// Maximum side length that libjpeg writes, and libpng.
constexpr int kMostJpegPixels = 65500;
constexpr int kMostPngPixels = 1'000'000;

/// Write a kRgb24 frame, as PNG also a kGray8 one, to PATH. Throw Error (kIo) naming the file.
void write_jpeg(const std::string& path, const FrameView& frame);
void write_png(const std::string& path, const FrameView& frame);

/// See ImagesModule.
void encode_jpeg(const RgbView& image, int quality, std::string& bytes);
void jpeg_roundtrip(const RgbView& image, int quality);
StoredPlane read_png_plane(const std::string& path);

}  // namespace saccade
