#include "tensor/frame.hpp"

#include <unistd.h>

#include <new>

#include "base/enum_name.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

class PlainFrameMemory : public FrameMemory {
 public:
  MemoryKind kind() const override { return MemoryKind::kPlain; }
  std::byte* allocate(std::size_t bytes) override {
    // Vector kernels may read up to one vector past the end, without using it.
    constexpr std::size_t kSlack = 64;
    return static_cast<std::byte*>(::operator new(bytes + kSlack, alignment_));
  }
  void deallocate(std::byte* memory) noexcept override { ::operator delete(memory, alignment_); }

 private:
  // A driver fills whole pages.
  std::align_val_t alignment_ = static_cast<std::align_val_t>(sysconf(_SC_PAGESIZE));
};

int pitch_of(int row_bytes) { return (row_bytes + 63) / 64 * 64; }

}  // namespace

FrameMemory& plain_frame_memory() {
  static PlainFrameMemory memory;
  return memory;
}

FrameLease::~FrameLease() {
  if (owner_ != nullptr) owner_->release(*buffer_);
}

FrameView FrameLease::host_view(const FrameView& view) const { return owner_->host_view(*buffer_, view); }

FrameView host_view(const Frame& frame) {
  if (frame.view.memory != MemoryKind::kDevice) return frame.view;
  if (!frame.lease) fail(ErrorCode::kUnsupported, "the frame's pixels are needed on the host: copy it there first");
  return frame.lease.host_view(frame.view);
}

bool is_mosaic(PixelFormat format) {
  return format == PixelFormat::kBayerRggb8 || format == PixelFormat::kBayerGrbg8 ||
         format == PixelFormat::kBayerGbrg8 || format == PixelFormat::kBayerBggr8;
}

bool shares_chroma(PixelFormat format) {
  return format == PixelFormat::kI420 || format == PixelFormat::kI422 || format == PixelFormat::kNv12 ||
         format == PixelFormat::kYuyv || format == PixelFormat::kUyvy || is_mosaic(format);
}

std::string_view to_string(PixelFormat format) {
  constexpr std::array<std::string_view, kPixelFormats.size()> names = {
      "rgb24", "bgr24", "gray8",       "i420",        "i422",        "i444",       "nv12",
      "yuyv",  "uyvy",  "bayer_rggb8", "bayer_grbg8", "bayer_gbrg8", "bayer_bggr8"};
  return enum_name(format, names);
}

void check_size(int width, int height) {
  constexpr int kMaxSide = 1 << 28;  // a row of any format fits an int
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    fail(ErrorCode::kInvalidArgument, "a frame of {}x{} pixels is invalid", width, height);
}

void check_readable(const FrameView& frame) {
  if (frame.memory != MemoryKind::kPlain && frame.memory != MemoryKind::kPinned)
    fail(ErrorCode::kInvalidArgument, "the samples of a frame must be readable on the host");
  check_planes(frame);
}

void check_planes(const FrameView& frame) {
  check_size(frame.width, frame.height);
  const auto sizes = plane_sizes(frame.format, frame.width, frame.height);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].rows == 0) continue;
    if (frame.planes[i] == nullptr)
      fail(ErrorCode::kInvalidArgument, "plane {} of a {} frame is missing", i, to_string(frame.format));
    if (frame.pitch_bytes[i] < sizes[i].row_bytes)
      fail(ErrorCode::kInvalidArgument, "the pitch of plane {} is {} bytes, but a row has {}", i, frame.pitch_bytes[i],
           sizes[i].row_bytes);
  }
}

FrameView view_of(const RgbView& pixels) {
  return {.format = PixelFormat::kRgb24,
          .range = ColorRange::kFull,
          .width = pixels.width,
          .height = pixels.height,
          .planes = {pixels.data},
          .pitch_bytes = {pixels.pitch_bytes}};
}

std::array<PlaneSize, 3> plane_sizes(PixelFormat format, int width, int height) {
  const int half_width = (width + 1) / 2;
  const int half_height = (height + 1) / 2;
  switch (format) {
    case PixelFormat::kRgb24:
    case PixelFormat::kBgr24: return {{{3 * width, height}, {}, {}}};
    case PixelFormat::kGray8:
    case PixelFormat::kBayerRggb8:
    case PixelFormat::kBayerGrbg8:
    case PixelFormat::kBayerGbrg8:
    case PixelFormat::kBayerBggr8: return {{{width, height}, {}, {}}};
    case PixelFormat::kI420: return {{{width, height}, {half_width, half_height}, {half_width, half_height}}};
    case PixelFormat::kI422: return {{{width, height}, {half_width, height}, {half_width, height}}};
    case PixelFormat::kI444: return {{{width, height}, {width, height}, {width, height}}};
    case PixelFormat::kNv12: return {{{width, height}, {2 * half_width, half_height}, {}}};
    case PixelFormat::kYuyv:
    case PixelFormat::kUyvy: return {{{4 * half_width, height}, {}, {}}};
  }
  fail(ErrorCode::kInternal, "pixel format {} has no planes", static_cast<int>(format));
}

FrameView crop(const FrameView& frame, const Region& region) {
  SACCADE_ASSERT((region.x % 2 == 0 && region.y % 2 == 0) || !shares_chroma(frame.format));
  SACCADE_ASSERT(region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0 &&
                 region.width <= frame.width - region.x && region.height <= frame.height - region.y);
  FrameView view = frame;
  view.width = region.width;
  view.height = region.height;
  // The planes of the part to the left and above end where the region begins.
  const auto before = plane_sizes(frame.format, region.x, region.y);
  for (std::size_t i = 0; i < view.planes.size(); ++i)
    if (frame.planes[i] != nullptr)
      view.planes[i] += std::ptrdiff_t{before[i].rows} * frame.pitch_bytes[i] + before[i].row_bytes;
  return view;
}

std::size_t frame_bytes(PixelFormat format, int width, int height) {
  std::size_t bytes = 0;
  for (const PlaneSize& plane : plane_sizes(format, width, height))
    bytes += static_cast<std::size_t>(pitch_of(plane.row_bytes)) * static_cast<std::size_t>(plane.rows);
  return bytes;
}

FrameView lay_out(const FrameBuffer& buffer, PixelFormat format, int width, int height) {
  SACCADE_ASSERT(buffer.capacity >= frame_bytes(format, width, height));
  FrameView view;
  view.format = format;
  view.memory = buffer.memory;
  view.width = width;
  view.height = height;
  auto* next = reinterpret_cast<std::uint8_t*>(buffer.data);
  const auto sizes = plane_sizes(format, width, height);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].rows == 0) continue;
    view.planes[i] = next;
    view.pitch_bytes[i] = pitch_of(sizes[i].row_bytes);
    next += static_cast<std::size_t>(view.pitch_bytes[i]) * static_cast<std::size_t>(sizes[i].rows);
  }
  return view;
}

}  // namespace saccade
