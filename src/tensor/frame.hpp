#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

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

/// How a format's planes lie in one block: rows and bytes a row of each plane (0 rows: no such plane).
struct PlaneSize {
  int row_bytes = 0;
  int rows = 0;
};
std::array<PlaneSize, 3> plane_sizes(PixelFormat format, int width, int height);

/// Storage of one frame. It belongs to a pool and goes back there when its last lease ends.
struct FrameBuffer {
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  MemoryKind memory = MemoryKind::kPlain;
};

class FrameAllocator;

/// One buffer on loan. Move-only; gives the buffer back when it dies, on any thread. The allocator outlives it.
class FrameLease {
 public:
  FrameLease() = default;
  FrameLease(FrameAllocator& owner, FrameBuffer& buffer) noexcept : owner_(&owner), buffer_(&buffer) {}
  FrameLease(FrameLease&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), buffer_(std::exchange(other.buffer_, nullptr)) {}
  FrameLease& operator=(FrameLease&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~FrameLease();

  explicit operator bool() const noexcept { return buffer_ != nullptr; }
  const FrameBuffer& buffer() const noexcept { return *buffer_; }

 private:
  FrameAllocator* owner_ = nullptr;
  FrameBuffer* buffer_ = nullptr;
};

/// Where a source gets its frames' storage from: the pipeline hands it one.
class FrameAllocator {
 public:
  virtual ~FrameAllocator() = default;
  /// A buffer of at least BYTES, 64-byte aligned. Blocks while all buffers are out; an empty lease once cancelled.
  /// Allocates only while the pool warms up or frames grow.
  virtual FrameLease acquire(std::size_t bytes) = 0;
  /// Called by a dying lease, on any thread.
  virtual void release(FrameBuffer& buffer) noexcept = 0;
};

/// A frame with its identity: the one currency between sources and pipelines. Moving it moves the lease.
struct Frame {
  FrameView view;
  FrameLease lease;                                ///< keeps view's planes alive
  std::int64_t sequence = 0;                       ///< the source's own count, from 0; a gap is a lost frame
  std::int64_t timestamp_ns = 0;                   ///< presentation time in a file; the sensor's clock on a camera
  std::int64_t image_id = -1;                      ///< a number in the file's name, for COCO; -1: none
  std::string_view name;                           ///< the file that it came from; lives as long as the source
  std::chrono::steady_clock::time_point captured;  ///< when it was there, decoded
  std::chrono::nanoseconds capture_time{};         ///< reading and decoding it
};

/// Bytes that lay_out() needs.
std::size_t frame_bytes(PixelFormat format, int width, int height);
/// FORMAT's planes one after the other in BUFFER, pitches multiples of 64 bytes. Throws on a buffer too small.
FrameView lay_out(const FrameBuffer& buffer, PixelFormat format, int width, int height);

}  // namespace saccade
