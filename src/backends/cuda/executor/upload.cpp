#include "cuda/executor/upload.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "base/error.hpp"

namespace saccade::cuda {
namespace {

constexpr std::size_t kPlanes = 3;
constexpr std::size_t kWord = 16;  // bytes per thread and load
// Assumed size of a frame: the transfer kernel's grid is fixed at capture.
constexpr std::size_t kFrameBytes = std::size_t{4} << 20;

std::size_t padded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

bool is_empty(PlaneSize size) { return size.rows <= 0 || size.row_bytes <= 0; }

/// Whether the device can read a plane in place. Planes with widely spaced, bottom-up or misaligned rows are repacked.
bool is_readable_in_place(const std::uint8_t* plane, int pitch, PlaneSize size) {
  return address_of(plane) % kWord == 0 && pitch >= size.row_bytes && pitch / 2 <= size.row_bytes;
}

void copy_rows(const std::uint8_t* from, int from_pitch, std::byte* to, int to_pitch, PlaneSize size) {
  for (int y = 0; y < size.rows; ++y)
    std::memcpy(to + static_cast<std::ptrdiff_t>(y) * to_pitch, from + static_cast<std::ptrdiff_t>(y) * from_pitch,
                static_cast<std::size_t>(size.row_bytes));
}

std::size_t bytes_of(std::span<const Copy> copies) {
  return std::accumulate(copies.begin(), copies.end(), std::size_t{0},
                         [](std::size_t sum, const Copy& copy) { return sum + static_cast<std::size_t>(copy.bytes); });
}

std::size_t copies_of(const FrameReaders& readers) {
  return std::accumulate(
      readers.begin(), readers.end(), std::size_t{0},
      [](std::size_t sum, const std::vector<FrameReader*>& each) { return sum + kPlanes + each.size(); });
}

class PinnedFrameMemory : public FrameMemory {
 public:
  explicit PinnedFrameMemory(Device& device) : device_(device) {}
  MemoryKind kind() const override { return MemoryKind::kPinned; }
  int device() const override { return device_.ordinal(); }
  /// Ordinary pages, which a camera's driver can fill: Linux refuses it those that a device driver has mapped, as
  /// cuMemHostAlloc() may do.
  std::byte* allocate(std::size_t bytes) override {
    constexpr std::size_t kSlack = 64;
    const std::size_t mapped = padded(bytes + kSlack, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
    void* const pages = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    auto* const memory = static_cast<std::byte*>(pages);
    if (register_host(memory, mapped)) {
      const std::scoped_lock lock(mutex_);
      mapped_[memory] = mapped;
      return memory;
    }
    munmap(pages, mapped);
    return static_cast<std::byte*>(make_pinned(bytes + kSlack).release());
  }
  void deallocate(std::byte* memory) noexcept override {
    if (memory == nullptr) return;
    std::size_t mapped = 0;
    {
      const std::scoped_lock lock(mutex_);
      if (const auto found = mapped_.find(memory); found != mapped_.end()) {
        mapped = found->second;
        mapped_.erase(found);
      }
    }
    if (mapped == 0) {
      static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
      PinnedMemory(memory).reset();
      return;
    }
    unregister_host(memory);
    munmap(memory, mapped);
  }
  bool register_host(std::byte* memory, std::size_t bytes) override {
    device_.make_current();
    if (driver().cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) !=
        CUDA_SUCCESS)
      return false;
    // Kernels read pinned frames at the host's address, which integrated GPUs do not map.
    CUdeviceptr address = 0;
    const bool is_mapped = driver().cuMemHostGetDevicePointer_v2(&address, memory, 0) == CUDA_SUCCESS;
    if (is_mapped && address == address_of(memory)) return true;
    unregister_host(memory);
    return false;
  }
  void unregister_host(std::byte* memory) noexcept override {
    static_cast<void>(driver().cuCtxSetCurrent(device_.context()));
    static_cast<void>(driver().cuMemHostUnregister(memory));
  }

 private:
  Device& device_;
  std::mutex mutex_;
  std::map<std::byte*, std::size_t> mapped_;  ///< bytes of registered pages
};

}  // namespace

FrameReaders by_frame(std::span<FrameReader* const> readers, std::span<const FrameView> frames) {
  FrameReaders groups(frames.size());
  for (FrameReader* reader : readers)
    groups.at(static_cast<std::size_t>(reader->frame() - frames.data())).push_back(reader);
  return groups;
}

Upload::Upload(Device& device, const std::vector<Copy>& inputs, FrameReaders readers)
    : device_(device),
      readers_(std::move(readers)),
      transfer_(device, inputs.size() + copies_of(readers_), bytes_of(inputs) + kFrameBytes * readers_.size()),
      pixels_(readers_.size()) {
  auto next = std::ranges::copy(inputs, transfer_.copies().begin()).out;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    pixels_[i].planes = {next, kPlanes};
    next = std::ranges::transform(readers_[i], next + kPlanes, &FrameReader::description).out;
  }
}

void Upload::prepare(std::span<const FrameView> frames) {
  refused_by_ = nullptr;
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    const FrameView on_device = pixels_[i].place(frames[i], device_.ordinal());
    for (FrameReader* reader : readers_[i]) {
      refused_by_ = reader;
      reader->describe(on_device);
    }
  }
  refused_by_ = nullptr;
}

void Upload::await_frames(CUstream stream) const {
  for (const Pixels& each : pixels_)
    if (each.ready != nullptr) SACCADE_CUDA(cuStreamWaitEvent(stream, each.ready, 0));
}

/// Sets source and destination of FRAME's planes.
FrameView Upload::Pixels::place(const FrameView& frame, int device) {
  ready = nullptr;
  if (frame.memory == MemoryKind::kDevice && frame.device == device) {
    std::ranges::fill(planes, Copy{});
    ready = static_cast<CUevent>(const_cast<void*>(frame.ready));
    return frame;
  }
  const auto sizes = plane_sizes(frame.format, frame.width, frame.height);
  const bool pinned = frame.memory == MemoryKind::kPinned;
  if (!pinned && frame.memory != MemoryKind::kPlain)
    fail(ErrorCode::kUnsupported, "a frame that neither the host nor this GPU can read can't be used");
  FrameView placed = frame;
  placed.memory = MemoryKind::kDevice;
  std::array<std::size_t, kPlanes> offsets{};
  std::array<bool, kPlanes> direct{};
  std::size_t bytes = 0;
  bool staged = false;
  for (std::size_t i = 0; i < kPlanes; ++i) {
    if (is_empty(sizes[i])) continue;
    direct[i] = pinned && is_readable_in_place(frame.planes[i], frame.pitch_bytes[i], sizes[i]);
    staged = staged || !direct[i];
    if (!direct[i])
      placed.pitch_bytes[i] = static_cast<int>(padded(static_cast<std::size_t>(sizes[i].row_bytes), kWord));
    offsets[i] = bytes;
    bytes += padded(static_cast<std::size_t>(placed.pitch_bytes[i]) * static_cast<std::size_t>(sizes[i].rows), 256);
  }
  grow(bytes, staged);
  for (std::size_t i = 0; i < kPlanes; ++i) {
    planes[i] = {};
    if (is_empty(sizes[i])) continue;
    const std::byte* from = reinterpret_cast<const std::byte*>(frame.planes[i]);
    if (!direct[i]) {
      std::byte* const to = static_cast<std::byte*>(staging.get()) + offsets[i];
      copy_rows(frame.planes[i], frame.pitch_bytes[i], to, placed.pitch_bytes[i], sizes[i]);
      from = to;
    }
    planes[i] = {.from = address_of(from),
                 .to = memory.address() + offsets[i],
                 .bytes = std::int64_t{placed.pitch_bytes[i]} * (sizes[i].rows - 1) + sizes[i].row_bytes};
    placed.planes[i] = reinterpret_cast<const std::uint8_t*>(memory.pointer() + offsets[i]);
  }
  return placed;
}

void Upload::Pixels::grow(std::size_t bytes, bool staged) {
  if (memory.bytes() < bytes) memory = DeviceMemory(bytes);
  if (!staged || staged_bytes >= bytes) return;
  staging = make_pinned(bytes);
  staged_bytes = bytes;
}

FrameMemory& pinned_frame_memory(Device& device) {
  static std::mutex mutex;
  static std::map<Device*, std::unique_ptr<PinnedFrameMemory>> memories;
  const std::scoped_lock lock(mutex);
  auto& memory = memories[&device];
  if (memory == nullptr) memory = std::make_unique<PinnedFrameMemory>(device);
  return *memory;
}

}  // namespace saccade::cuda
