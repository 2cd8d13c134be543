#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "media/modules.hpp"

namespace saccade {

/// An image's size as it is stored, and how it is to be turned.
struct ImageHeader {
  int width = 0;
  int height = 0;
  int orientation = 1;  ///< EXIF's, 1 to 8
};

/// One format's decoder; reused for any number of files. The C libraries leave by longjmp, so that nothing here throws.
class ImageDecoder {
 public:
  virtual ~ImageDecoder() = default;
  /// Reads the header of FILE, which stays alive until decode() is done. False: error() says why.
  virtual bool begin(std::span<const std::uint8_t> file, ImageHeader& header) noexcept = 0;
  /// Decodes what begin() started as RGB24. False: error() says why, and the pixels are not to be used.
  virtual bool decode(std::uint8_t* rgb, int pitch_bytes) noexcept = 0;
  virtual const char* error() const noexcept = 0;
};

std::unique_ptr<ImageDecoder> make_jpeg_decoder();
std::unique_ptr<ImageDecoder> make_png_decoder();

/// What libjpeg writes of a side at most, and libpng.
constexpr int kMostJpegPixels = 65500;
constexpr int kMostPngPixels = 1'000'000;

/// Write a kRgb24 frame, as PNG a kGray8 one too, to PATH. Throw Error (kIo) naming the file.
void write_jpeg(const std::string& path, const FrameView& frame);
void write_png(const std::string& path, const FrameView& frame);

/// See ImagesModule.
void jpeg_roundtrip(const RgbView& picture, int quality);
StoredPlane read_png_plane(const std::string& path);

}  // namespace saccade
