#include "nvdec/device_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "nvdec/nvcuvid.hpp"

namespace saccade::nvdec {
namespace {

/// More images than a decoder returns for one packet: those that it holds for their order, and to decode ahead.
constexpr std::size_t kMostAtOnce = 24;
/// Images of a packet of a file beyond the one that there is room for. Few packets show more: a sequence's first and
/// last.
constexpr std::size_t kAhead = 1;
/// The part of a GPU's memory that spare buffers leave free.
constexpr std::size_t kLeftFree = 4;

/// Whether the current context's GPU has BYTES for a spare buffer.
bool has_room_for(std::size_t bytes) {
  std::size_t free = 0;
  std::size_t total = 0;
  return cuda::driver().cuMemGetInfo_v2(&free, &total) == cuda::CUDA_SUCCESS && bytes <= free &&
         free - bytes >= total / kLeftFree;
}

}  // namespace

DevicePool::DevicePool(int device, FrameAllocator& frames)
    : device_(device), frames_(frames), most_leased_(std::max<std::size_t>(frames.buffers(), 1)) {
  make_current(device);
  downloads_ = cuda::make_stream();
  buffers_.reserve(most_leased_ + kMostAtOnce);
  free_.reserve(buffers_.capacity());
}

DevicePool::~DevicePool() {
  // In the context of its memory. The members' destructors ignore errors.
  static_cast<void>(cuda::driver().cuCtxSetCurrent(context_of(device_)));
}

FrameLease DevicePool::lease(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  Buffer* const buffer = best_for(bytes);
  if (buffer == nullptr) return {};
  if (buffer->capacity < bytes) grow(*buffer, bytes);
  std::erase(free_, buffer);
  ++leased_;
  fill_up(bytes);
  return {*this, *buffer};
}

/// A free buffer: the smallest that fits, else the largest, else a new one. Null if there are no more.
DevicePool::Buffer* DevicePool::best_for(std::size_t bytes) {
  Buffer* best = nullptr;
  for (Buffer* each : free_) {
    const bool fits = each->capacity >= bytes;
    const bool best_fits = best != nullptr && best->capacity >= bytes;
    const bool is_better = best == nullptr || (fits != best_fits ? fits
                                               : fits            ? each->capacity < best->capacity
                                                                 : each->capacity > best->capacity);
    if (is_better) best = each;
  }
  if (best != nullptr || buffers_.size() == buffers_.capacity()) return best;
  return make();
}

/// A new free buffer without memory.
DevicePool::Buffer* DevicePool::make() {
  auto made = std::make_unique<Buffer>();
  made->memory = MemoryKind::kDevice;
  made->ready = cuda::make_event(cuda::CU_EVENT_DISABLE_TIMING);
  buffers_.push_back(std::move(made));
  free_.push_back(buffers_.back().get());
  return free_.back();
}

/// Under the lock. Frees the buffer first.
void DevicePool::grow(Buffer& buffer, std::size_t bytes) {
  const std::size_t before = std::exchange(buffer.capacity, 0);
  buffer.device = {};
  bytes_ -= before;
  if (is_counted_) frames_.give_back(before);
  add(bytes);
  try {
    buffer.device = cuda::DeviceMemory(bytes);
  } catch (...) {
    bytes_ -= bytes;
    if (is_counted_) frames_.give_back(bytes);
    throw;
  }
  buffer.data = buffer.device.pointer();
  buffer.capacity = bytes;
}

/// Under the lock. A reader that is late takes all buffers; an allocation would delay it further. Buffers that are in
/// use follow once they are free. Beyond half of the limit, and where the GPU has little memory left, buffers are
/// allocated when they are needed.
void DevicePool::fill_up(std::size_t bytes) {
  if (bytes > filled_) is_full_ = false;
  filled_ = std::max(filled_, bytes);
  if (is_full_) return;
  is_full_ = true;
  try {
    const auto has_spare = [&] { return frames_.has_spare(filled_) && has_room_for(filled_); };
    while (buffers_.size() < most_leased_ + kAhead && has_spare()) grow(*make(), filled_);
    for (Buffer* buffer : free_)
      if (buffer->capacity < filled_ && has_spare()) grow(*buffer, filled_);
    is_full_ = std::ranges::all_of(buffers_, [&](const auto& buffer) {
      return buffer->capacity >= filled_ || std::ranges::find(free_, buffer.get()) != free_.end();
    });
  } catch (const std::exception&) {
    return;  // refused when it is needed
  }
}

/// Under the lock.
void DevicePool::add(std::size_t bytes) {
  if (is_counted_) frames_.take(bytes);
  bytes_ += bytes;
}

cuda::CUevent DevicePool::ready_event(const FrameBuffer& buffer) {
  return static_cast<const Buffer&>(buffer).ready.get();
}

bool DevicePool::wait_for_room() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return is_cancelled_ || leased_ < most_leased_; });
  return !is_cancelled_;
}

bool DevicePool::has_room() const {
  const std::scoped_lock lock(mutex_);
  return leased_ < most_leased_;
}

void DevicePool::cancel() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    is_cancelled_ = true;
  }
  returned_.notify_all();
}

void DevicePool::count() {
  const std::scoped_lock lock(mutex_);
  if (is_counted_) return;
  frames_.take(bytes_);
  is_counted_ = true;
}

void DevicePool::uncount() noexcept {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(is_counted_, false)) frames_.give_back(bytes_);
}

void DevicePool::retire() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    is_retired_ = true;
    is_counted_ = false;  // the pipeline may be gone
    if (leased_ > 0) return;
  }
  delete this;
}

void DevicePool::release(FrameBuffer& buffer) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    auto& ours = static_cast<Buffer&>(buffer);
    ours.is_copied = false;  // nothing else uses it any more
    free_.push_back(&ours);  // within the reserved capacity
    --leased_;
    returned_.notify_all();
    if (!is_retired_ || leased_ > 0) return;
  }
  delete this;
}

FrameView DevicePool::host_view(FrameBuffer& buffer, const FrameView& view) {
  auto& ours = static_cast<Buffer&>(buffer);
  const std::scoped_lock lock(ours.mutex);
  if (!ours.is_copied) download(ours, frame_bytes(view.format, view.width, view.height));
  FrameView copy = view;
  copy.memory = MemoryKind::kPinned;
  copy.device = -1;
  copy.ready = nullptr;
  for (std::size_t i = 0; i < copy.planes.size(); ++i)
    if (copy.planes[i] != nullptr)
      copy.planes[i] = static_cast<const std::uint8_t*>(ours.host.get()) +
                       (view.planes[i] - reinterpret_cast<const std::uint8_t*>(ours.data));
  return copy;
}

/// Under the buffer's lock.
void DevicePool::download(Buffer& buffer, std::size_t bytes) {
  make_current(device_);
  if (buffer.host_bytes < bytes) {
    buffer.host = cuda::make_pinned(bytes);
    const std::scoped_lock lock(mutex_);
    add(bytes - buffer.host_bytes);
    buffer.host_bytes = bytes;
  }
  const cuda::CUstream stream = downloads_.get();
  SACCADE_CUDA(cuStreamWaitEvent(stream, buffer.ready.get(), 0));
  SACCADE_CUDA(cuMemcpyDtoHAsync_v2(buffer.host.get(), buffer.device.address(), bytes, stream));
  SACCADE_CUDA(cuStreamSynchronize(stream));
  buffer.is_copied = true;
}

}  // namespace saccade::nvdec
