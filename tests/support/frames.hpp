#pragma once

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade::test {

/// A pool of a fixed number of buffers, like the pipeline's: blocks while all are in use, counts its allocations.
class FramePool final : public FrameAllocator {
 public:
  explicit FramePool(std::size_t buffers = 4) : buffers_(buffers) {
    for (FrameBuffer& buffer : buffers_) free_.push_back(&buffer);
  }
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() override {
    for (FrameBuffer& buffer : buffers_) std::free(buffer.data);
  }

  FrameLease acquire(std::size_t bytes) override {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return cancelled_ || !free_.empty(); });
    return lease(bytes);
  }

  FrameLease try_acquire(std::size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    return lease(bytes);
  }

  void release(FrameBuffer& buffer) noexcept override {
    const std::scoped_lock lock(mutex_);
    free_.push_back(&buffer);
    returned_.notify_one();
  }

  void cancel() {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    returned_.notify_all();
  }

  std::size_t out() const { return buffers_.size() - free_.size(); }
  int allocations() const { return allocations_; }

 private:
  FrameLease lease(std::size_t bytes) {
    if (cancelled_ || free_.empty()) return {};
    FrameBuffer& buffer = *free_.back();
    free_.pop_back();
    if (buffer.capacity < bytes) {
      std::free(buffer.data);
      buffer.capacity = (bytes + 63) / 64 * 64;
      buffer.data = static_cast<std::byte*>(std::aligned_alloc(64, buffer.capacity));
      ++allocations_;
    }
    return {*this, buffer};
  }

  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<FrameBuffer> buffers_;
  std::vector<FrameBuffer*> free_;
  int allocations_ = 0;
  bool cancelled_ = false;
};

}  // namespace saccade::test
