#include "pipeline/model/frame_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/memory_budget.hpp"

namespace saccade {
namespace {

/// Memory of all pools' frames.
std::atomic<std::size_t> bytes_of_frames{0};

}  // namespace

FramePool::FramePool(std::size_t buffers, FrameMemory& memory, std::size_t limit, const char* flag)
    : memory_(memory), limit_(limit), flag_(flag), buffers_(buffers) {
  free_.reserve(buffers);
  for (FrameBuffer& buffer : buffers_) {
    buffer.memory = memory.kind();
    free_.push_back(&buffer);
  }
}

FramePool::~FramePool() {
  for (FrameBuffer& buffer : buffers_) shrink(buffer);
  bytes_of_frames -= taken_;
}

void FramePool::shrink(FrameBuffer& buffer) noexcept {
  memory_.deallocate(std::exchange(buffer.data, nullptr));
  give_back(std::exchange(buffer.capacity, 0));
}

void FramePool::grow(FrameBuffer& buffer, std::size_t bytes) {
  shrink(buffer);
  take(bytes);
  try {
    buffer.data = memory_.allocate(bytes);
  } catch (...) {
    give_back(bytes);
    throw;
  }
  buffer.capacity = bytes;
  largest_ = std::max(largest_, bytes);
}

void FramePool::fill_up(std::size_t unused) {
  const std::scoped_lock lock(mutex_);
  if (std::exchange(filled_, largest_) == largest_) return;
  auto left = std::ranges::count_if(free_, [&](const FrameBuffer* buffer) { return buffer->capacity < largest_; });
  for (FrameBuffer* buffer : free_) {
    if (buffer->capacity >= largest_) continue;
    if (std::cmp_less_equal(left--, unused) || !has_spare(largest_)) return;
    try {
      grow(*buffer, largest_);
    } catch (const std::exception&) {
      return;  // refused when it is needed
    }
    if (buffer->memory == MemoryKind::kPlain) std::memset(buffer->data, 0, buffer->capacity);
  }
}

bool FramePool::has_spare(std::size_t bytes) const {
  const std::size_t half = limit() / 2;
  const std::size_t used = bytes_of_frames;
  return used <= half && bytes <= half - used;
}

std::size_t FramePool::limit() const { return limit_ == 0 ? default_memory_limit() : limit_; }

/// The smallest free buffer that fits, else the largest, which minimises reallocations for varying sizes.
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
  return lease(bytes);
}

FrameLease FramePool::try_acquire(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  return lease(bytes);
}

/// Of a free buffer, under the lock; empty if there is none, or once cancelled.
FrameLease FramePool::lease(std::size_t bytes) {
  if (cancelled_ || free_.empty()) return {};
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
    free_.push_back(&buffer);  // within the reserved capacity
  }
  returned_.notify_one();
}

void FramePool::take(std::size_t bytes) {
  const std::size_t before = bytes_of_frames.fetch_add(bytes);
  const std::size_t limit = this->limit();
  if (before <= limit && bytes <= limit - before) {
    taken_ += bytes;
    return;
  }
  bytes_of_frames -= bytes;
  fail(ErrorCode::kUnsupported,
       "{} are needed, but frames in queues and in work already use {} of their limit of {}: use a shorter --queue, or "
       "raise the limit with {} SIZE",
       readable_bytes(bytes), readable_bytes(before), readable_bytes(limit), flag_);
}

void FramePool::give_back(std::size_t bytes) noexcept {
  taken_ -= bytes;
  bytes_of_frames -= bytes;
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
