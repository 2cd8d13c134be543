#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/outcome.hpp"
#include "base/output_file.hpp"
#include "saccade/source.hpp"
#include "saccade/summary.hpp"
#include "tensor/frame.hpp"

namespace saccade {

class CommonStart;

/// Reads the frames of a source: a file, a folder, a device or a network stream. One thread reads; any thread may
/// cancel.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  virtual const SourceInfo& info() const = 0;
  /// The next frame, in storage from ALLOCATOR. kCorrupt, kNoBuffer and kBehind are for one frame, kEnd and kLost end
  /// the source. Does not allocate after its first frames (a decoder library may).
  virtual Outcome<Frame> read(FrameAllocator& allocator) = 0;
  /// Reads kCorrupt in the place of what ReaderOptions::at calls NUMBER, without decoding it: its decoder crashes.
  /// Before the first read. False if this kind of source can't do so.
  virtual bool skip(std::int64_t /*number*/) { return false; }
  /// Passes over the first COUNT frames without decoding them. Before the first read. False if this kind of source must
  /// read them.
  virtual bool pass_over(std::int64_t /*count*/) { return false; }
  /// rewind() will follow the end: what it needs may be read before. At any time.
  virtual void expect_rewind() {}
  /// Begins again at the first frame, after kEnd. False if this kind of source must be opened again for that.
  virtual bool rewind() { return false; }
  /// The first frame of a source that is read in real time is due when START says so. Before the first read.
  virtual void begin_with(std::shared_ptr<CommonStart> /*start*/) {}
  /// Makes a waiting read, and all later ones, return kCancelled, after kNoBuffer for the frames that are known to have
  /// had none.
  virtual void cancel() noexcept = 0;
  /// Whether it reads a file in real time: after an outage it goes on with the next frame, and has missed none.
  virtual bool is_paced() const { return false; }
  /// Those of a device. Any thread.
  virtual SourceFaults faults() const { return {}; }
  /// The most buffers of ALLOCATOR that it holds between two calls of read(). May fall once it has read a frame.
  virtual int held_buffers() const { return 0; }
};

/// Opens a source. Throws Error if it can't.
using OpenReader = std::function<std::unique_ptr<FrameReader>()>;

/// Options of open_reader().
struct ReaderOptions {
  int decode_threads = 2;  ///< of a video's decoder
  bool wait = false;       ///< a network stream that can't be opened is away at first
  /// The size of the model's input in pixels, for which a camera's mode is chosen where its URI has none.
  int model_width = 640;
  int model_height = 640;
  Decoding decode = Decoding::kCpu;  ///< of a video or a network stream; kAuto: by the memory of the frames' allocator
  /// Where to store the number of the packet, or image, that is decoded now: should the process die, another one reads
  /// it. May be null.
  std::atomic<std::int64_t>* at = nullptr;
};

/// Opens an image, a folder of images (in the order of their names), a video, a camera, a network stream or a synthetic
/// scene. Throws Error naming the file if it is missing, empty, damaged or of unknown format, and for a URI whose
/// scheme is not supported.
std::unique_ptr<FrameReader> open_reader(const std::string& uri, const ReaderOptions& options = {});

/// Writes frames into a video file. close() may throw; the destructor closes silently.
class VideoWriter {
 public:
  virtual ~VideoWriter() = default;
  /// FRAME (kRgb24 or kI420, of the first frame's size) shown at TIMESTAMP (increasing). Throws Error (kIo).
  virtual void write(const FrameView& frame, std::int64_t timestamp_ns) = 0;
  /// Flushes and completes the file. Throws Error (kIo).
  virtual void close() = 0;
  /// What the encoder has produced so far, without the container's own bytes.
  virtual std::uint64_t encoded_bytes() const = 0;
};

/// FRAME_RATE is a hint for the container. Throws Error if the file cannot be created or its extension is unknown.
std::unique_ptr<VideoWriter> open_video_writer(const std::string& path, double frame_rate,
                                               OutputPath::Claim claim = OutputPath::Claim::kRecorded);

/// Publishes frames at URL (rtsp, rtsps, rtmp, rtmps, srt; options follow a '#'), as they come: H.264 without a delay.
/// It connects at the first frame. A write takes no longer than the timeout of the URL; after an error it can't go on.
/// Throws Error (kInvalidArgument) for another scheme or option. Messages have no passwords.
std::unique_ptr<VideoWriter> open_publisher(const std::string& url, double frame_rate);

/// Writes one kRgb24 image as .jpg or .png, or a kGray8 one as .png. Throws Error.
void write_image(const std::string& path, const FrameView& frame);

}  // namespace saccade
