#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  /// The same of the bytes of a FILE, called NAME in messages. kCorrupt, too, for more than MOST_PIXELS.
  virtual Outcome<Frame> read(std::span<const std::uint8_t> file, const std::string& name, std::int64_t most_pixels,
                              FrameAllocator& allocator) = 0;
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
  /// Sets BYTES to IMAGE as a JPEG file of QUALITY, 1 to 100 (4:2:0). Throws Error.
  void (*encode_jpeg)(const RgbView& image, int quality, std::string& bytes);
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

/// Codecs whose images are the same bit by bit, whatever decodes them, and which NVDEC knows.
enum class ExactCodec : std::uint8_t { kH264, kHevc, kVp8, kVp9 };

/// A video that a GPU is to decode.
struct DeviceVideo {
  ExactCodec codec = ExactCodec::kH264;
  int bits = 8;                      ///< per sample
  bool is_420 = true;                ///< 4:2:0
  int width = 0;                     ///< pixels; 0: unknown
  int height = 0;                    ///< pixels; 0: unknown
  std::vector<std::uint8_t> header;  ///< H.264 and HEVC: parameter sets in Annex B format, before the first packet
  bool is_live = false;              ///< images come out as soon as possible, and a buffer is not waited for
  // Where the video itself does not say.
  ColorMatrix matrix = ColorMatrix::kBt601;
  ColorRange range = ColorRange::kLimited;
};

/// An image that a GPU has decoded: kNv12 in MemoryKind::kDevice.
struct DeviceImage {
  FrameView view;
  FrameLease lease;         ///< empty: there was no buffer
  std::int64_t packet = 0;  ///< the number of its packet
  bool is_damaged = false;  ///< its data is incomplete; there is no buffer then
};

/// Decodes a video on a GPU. One thread, except for cancel(). Its images may outlive it.
class DeviceDecoder {
 public:
  virtual ~DeviceDecoder() = default;
  /// Decodes the PACKET of a frame (H.264 and HEVC in Annex B format) with its NUMBER. next() has returned nothing.
  /// Returns why it can't be decoded, else an empty text. May wait for a buffer. Throws Error if the decoder can't go
  /// on: (kUnsupported) where the video has changed to what it can't decode.
  virtual std::string send(std::span<const std::uint8_t> packet, std::int64_t number) = 0;
  /// No packet follows: next() returns what the decoder holds.
  virtual void finish() = 0;
  /// The next image in the order of presentation; nothing: send() it a packet.
  virtual std::optional<DeviceImage> next() = 0;
  /// Whether PACKET, the first of a video, refers to none before it whatever that is: it may also follow the video's
  /// last one.
  virtual bool may_follow_all(std::span<const std::uint8_t> packet) const = 0;
  /// Forgets all packets. The next one begins with a key frame.
  virtual void flush() = 0;
  /// Its buffers count no more against the limit of the frames, until the next send(). Before it is destroyed, if there
  /// are other videos for these frames.
  virtual void give_back() noexcept = 0;
  /// Ends a send() that waits, which then returns. Any thread.
  virtual void cancel() noexcept = 0;
};

/// Interface of the nvdec module (libnvcuvid, opened by it); get it with module<NvdecModule>("nvdec").
struct NvdecModule {
  /// Why the GPU with the number DEVICE can't decode VIDEO; empty: it can.
  std::string (*refusal)(const DeviceVideo& video, int device);
  /// Its buffers count against the limit of FRAMES, which it may use as long as send() is called. Throws Error.
  std::unique_ptr<DeviceDecoder> (*open)(DeviceVideo video, int device, FrameAllocator& frames);
  /// Opens an elementary stream of H.264 or HEVC (Annex B). Throws Error naming the file.
  std::unique_ptr<FrameReader> (*open_elementary)(const std::string& path, const ReaderOptions& options);
};

}  // namespace saccade
