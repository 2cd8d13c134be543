#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "media/frame_reader.hpp"

namespace saccade {

struct ImageSize {
  int width = 0;  ///< pixels, upright
  int height = 0;
};

/// Decodes JPEG and PNG files into kRgb24 frames, upright (EXIF orientation applied). Used by one thread at a time.
class ImageReader {
 public:
  virtual ~ImageReader() = default;
  /// Reads only the file's header. Throws Error naming the file.
  virtual ImageSize size_of(const std::string& path) = 0;
  /// The image, in storage from ALLOCATOR; kCorrupt naming the file if any of its pixels is missing or damaged.
  virtual Outcome<Frame> read(const std::string& path, FrameAllocator& allocator) = 0;
};

/// The samples of a single-plane image as stored.
struct StoredPlane {
  int width = 0;
  int height = 0;
  int bits = 8;                        ///< per sample in the file, 1 to 16
  std::vector<std::uint16_t> samples;  ///< row by row: grey levels, or palette indices
};

/// The planes of a JPEG image.
struct JpegPlanes {
  PixelFormat format = PixelFormat::kI420;
  int width = 0;  ///< pixels
  int height = 0;
};

/// Decodes JPEG images of a camera to their planes, without a conversion to RGB. noexcept, because libjpeg returns by
/// longjmp. Used by one thread at a time.
class JpegPlaneDecoder {
 public:
  virtual ~JpegPlaneDecoder() = default;
  /// Reads the header of IMAGE, which must outlive decode(). False: see error().
  virtual bool begin(std::span<const std::uint8_t> image, JpegPlanes& planes) noexcept = 0;
  /// Decodes what begin() started into FRAME, laid out by lay_out(). False: see error(); the pixels are unspecified.
  virtual bool decode(const FrameView& frame) noexcept = 0;
  virtual const char* error() const noexcept = 0;
};

/// Interface of the images module (libjpeg-turbo, libpng); get it with module<ImagesModule>("images").
struct ImagesModule {
  std::unique_ptr<ImageReader> (*make_reader)();
  /// Writes kRgb24 as JPEG (.jpg, .jpeg) or PNG (.png), kGray8 as PNG. Throws Error naming the file.
  void (*write)(const std::string& path, const FrameView& frame);
  /// Reads a PNG file of numbers rather than colours: classes or distances. Throws Error naming the file if it is
  /// damaged, not a PNG file, or has three channels.
  StoredPlane (*read_plane)(const std::string& path);
  /// Encodes and decodes IMAGE as JPEG of QUALITY, 1 to 100, in place (4:2:0).
  void (*jpeg_roundtrip)(const RgbView& image, int quality);
  std::unique_ptr<JpegPlaneDecoder> (*make_plane_decoder)();
};

/// Interface of the ffmpeg module; get it with module<FfmpegModule>("ffmpeg").
struct FfmpegModule {
  /// Opens a local file of any format that libavformat supports. Throws Error naming the file.
  std::unique_ptr<FrameReader> (*open_video)(const std::string& path, const ReaderOptions& options);
  /// Opens a network stream (is_network()). Throws Error naming it, without passwords.
  std::unique_ptr<FrameReader> (*open_network)(const std::string& uri, const ReaderOptions& options);
  std::unique_ptr<VideoWriter> (*open_writer)(const std::string& path, double frame_rate, OutputPath::Claim claim);
  /// See saccade::open_publisher().
  std::unique_ptr<VideoWriter> (*open_publisher)(const std::string& url, double frame_rate);
};

}  // namespace saccade
