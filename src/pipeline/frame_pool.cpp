#include "pipeline/frame_pool.hpp"

#include <algorithm>
#include <new>

namespace saccade {
namespace {

constexpr std::align_val_t kAlignment{64};
// Vector kernels may read, and never use, up to one vector past the end.
constexpr std::size_t kSlack = 64;

void deallocate(FrameBuffer& buffer) noexcept {
  ::operator delete(buffer.data, kAlignment);
  buffer.data = nullptr;
  buffer.capacity = 0;
}

void grow(FrameBuffer& buffer, std::size_t bytes) {
  deallocate(buffer);
  buffer.data = static_cast<std::byte*>(::operator new(bytes + kSlack, kAlignment));
  buffer.capacity = bytes;
}

}  // namespace

FramePool::FramePool(std::size_t buffers) : buffers_(buffers) {
  free_.reserve(buffers);
  for (FrameBuffer& buffer : buffers_) free_.push_back(&buffer);
}

FramePool::~FramePool() {
  for (FrameBuffer& buffer : buffers_) deallocate(buffer);
}

/// Takes the smallest free buffer that fits, else the largest, so that sizes that vary settle on few reallocations.
FrameBuffer& FramePool::best_for(std::size_t bytes) {
  const auto better = [bytes](const FrameBuffer* a, const FrameBuffer* b) {
    const bool a_fits = a->capacity >= bytes;
    const bool b_fits = b->capacity >= bytes;
    if (a_fits != b_fits) return a_fits;
    return a_fits ? a->capacity < b->capacity : a->capacity > b->capacity;
  };
  const auto best = std::ranges::min_element(free_, better);
  FrameBuffer& buffer = **best;
  free_.erase(best);
  return buffer;
}

FrameLease FramePool::acquire(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return cancelled_ || !free_.empty(); });
  if (cancelled_) return {};
  FrameBuffer& buffer = best_for(bytes);
  if (buffer.capacity < bytes) {
    try {
      grow(buffer, bytes);
    } catch (...) {
      free_.push_back(&buffer);
      throw;
    }
  }
  return {*this, buffer};
}

void FramePool::release(FrameBuffer& buffer) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    free_.push_back(&buffer);  // within the capacity that the constructor reserved
  }
  returned_.notify_one();
}

void FramePool::cancel() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  returned_.notify_all();
}

std::size_t FramePool::bytes() const {
  const std::scoped_lock lock(mutex_);
  std::size_t total = 0;
  for (const FrameBuffer& buffer : buffers_) total += buffer.capacity;
  return total;
}

}  // namespace saccade
