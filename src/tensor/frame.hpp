#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "saccade/frame.hpp"
#include "saccade/region.hpp"

namespace saccade {

/// All of them, in their order.
inline constexpr auto kPixelFormats = std::to_array<PixelFormat>(
    {PixelFormat::kRgb24, PixelFormat::kBgr24, PixelFormat::kGray8, PixelFormat::kI420, PixelFormat::kI422,
     PixelFormat::kI444, PixelFormat::kNv12, PixelFormat::kYuyv, PixelFormat::kUyvy, PixelFormat::kBayerRggb8,
     PixelFormat::kBayerGrbg8, PixelFormat::kBayerGbrg8, PixelFormat::kBayerBggr8});

/// Borrowed writable kRgb24 pixels, the target of drawing.
struct RgbView {
  std::uint8_t* data = nullptr;
  int pitch_bytes = 0;
  int width = 0;   ///< pixels
  int height = 0;  ///< pixels
};
/// The same pixels, read-only, full range.
FrameView view_of(const RgbView& pixels);

/// The layout of a format's planes in one block: rows and bytes per row of each plane (0 rows: no such plane).
struct PlaneSize {
  int row_bytes = 0;
  int rows = 0;
};
std::array<PlaneSize, 3> plane_sizes(PixelFormat format, int width, int height);
/// Throws Error (kInvalidArgument) if a side is below 1 or above 2^28 pixels.
void check_size(int width, int height);
/// Throws Error (kInvalidArgument) if FRAME has no size, lacks a plane, or has a pitch shorter than a row.
void check_planes(const FrameView& frame);
/// check_planes(), also if the samples of FRAME are not readable on the host.
void check_readable(const FrameView& frame);

/// Whether FORMAT is one of the Bayer mosaics.
bool is_mosaic(PixelFormat format);
/// Whether several pixels of FORMAT have one chroma sample, or one sample of each colour.
bool shares_chroma(PixelFormat format);

/// The pixels of REGION, which lies inside FRAME: its planes point into FRAME's. X and Y are even if the
/// format shares_chroma(). A mosaic's colours at REGION's borders are interpolated from the samples inside.
FrameView crop(const FrameView& frame, const Region& region);

/// The source of frames' storage. Any thread; it outlives its allocations.
class FrameMemory {
 public:
  virtual ~FrameMemory() = default;
  virtual MemoryKind kind() const = 0;
  /// The ordinal of the GPU that reads it in place; -1: none.
  virtual int device() const { return -1; }
  /// BYTES, which begin at a page, plus 64 readable ones. Throws std::bad_alloc, or Error (kDevice).
  virtual std::byte* allocate(std::size_t bytes) = 0;
  /// No effect on null.
  virtual void deallocate(std::byte* memory) noexcept = 0;
  /// Makes BYTES at MEMORY, which another allocator has mapped, memory of this kind(). False if that is refused: it is
  /// kPlain then.
  virtual bool register_host(std::byte* /*memory*/, std::size_t /*bytes*/) { return false; }
  /// Ends it, before the memory is unmapped.
  virtual void unregister_host(std::byte* /*memory*/) noexcept {}
};
/// The heap.
FrameMemory& plain_frame_memory();

/// Storage of one frame. It belongs to a pool and returns there when its last lease ends.
struct FrameBuffer {
  std::byte* data = nullptr;
  std::size_t capacity = 0;
  MemoryKind memory = MemoryKind::kPlain;
};

class FrameAllocator;

/// Exclusive use of one buffer. Move-only; the destructor returns the buffer, on any thread. The allocator outlives it.
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
  /// See FrameAllocator::host_view().
  FrameView host_view(const FrameView& view) const;

 private:
  FrameAllocator* owner_ = nullptr;
  FrameBuffer* buffer_ = nullptr;
};

/// Provides a source with storage for its frames; implemented by the pipeline.
class FrameAllocator {
 public:
  virtual ~FrameAllocator() = default;
  /// A buffer of at least BYTES, 64-byte aligned. Blocks while all buffers are leased; an empty lease once cancelled.
  /// Allocates only while the pool warms up or frames grow.
  virtual FrameLease acquire(std::size_t bytes) = 0;
  /// The same for a live source, which can't wait: an empty lease if all buffers are leased, or once cancelled.
  virtual FrameLease try_acquire(std::size_t bytes) = 0;
  /// Called by a lease's destructor, on any thread.
  virtual void release(FrameBuffer& buffer) noexcept = 0;
  /// Counts BYTES that a source holds beside its frames against the frames' limit. Throws Error (kUnsupported) if they
  /// exceed it. What is not given back ends with the allocator.
  virtual void take(std::size_t /*bytes*/) {}
  virtual void give_back(std::size_t /*bytes*/) noexcept {}
  /// Whether BYTES of storage that no frame needs yet may be taken: up to half of the limit.
  virtual bool has_spare(std::size_t /*bytes*/) const { return true; }
  /// For a source that brings memory of its own: the number of frames that may be leased at a time, and where to
  /// register the memory. The latter lives as long as the process.
  virtual std::size_t buffers() const { return 4; }
  virtual FrameMemory& memory() { return plain_frame_memory(); }
  /// VIEW, whose samples are in BUFFER, in memory of the host. Those of a device are copied at the first call, for as
  /// long as the buffer is leased. Any thread. Throws Error (kDevice).
  virtual FrameView host_view(FrameBuffer& /*buffer*/, const FrameView& view) { return view; }
};

/// A frame with its identity, passed from sources to pipelines. Moving it moves the lease.
struct Frame {
  FrameView view;
  FrameLease lease;                                ///< keeps view's planes alive
  std::int64_t sequence = 0;                       ///< the source's own count, from 0; a gap is a lost frame
  std::int64_t timestamp_ns = 0;                   ///< presentation time in a file; the sensor's clock on a camera
  std::int64_t image_id = -1;                      ///< a number in the file's name, for COCO; -1: none
  std::string_view name;                           ///< the file's name; valid as long as the source
  std::chrono::steady_clock::time_point captured;  ///< when it was available, decoded
  std::chrono::nanoseconds capture_time{};         ///< time to read and decode it
  /// Start of the exposure by the sensor's clock, not after `captured`; nothing if it is unknown.
  std::optional<std::chrono::steady_clock::time_point> exposed;
  /// Of a network stream: when it was captured, by the clock of its sender, else when it arrived.
  std::optional<std::chrono::system_clock::time_point> captured_at;
};

/// The pixels of FRAME on the host, valid as long as its lease: see FrameAllocator::host_view().
FrameView host_view(const Frame& frame);

/// Bytes that lay_out() needs.
std::size_t frame_bytes(PixelFormat format, int width, int height);
/// FORMAT's planes in BUFFER one after the other, with pitches that are multiples of 64 bytes. Throws if the buffer is
/// too small.
FrameView lay_out(const FrameBuffer& buffer, PixelFormat format, int width, int height);

}  // namespace saccade
