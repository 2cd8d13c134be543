#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade {

/// A fixed number of frame buffers that go round. It allocates only while frames grow, and all pools together no more
/// than default_memory_limit(). Any thread. All leases must be
/// gone before the pool goes.
class FramePool final : public FrameAllocator {
 public:
  /// MEMORY outlives the pool.
  explicit FramePool(std::size_t buffers, FrameMemory& memory = plain_frame_memory());
  ~FramePool() override;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Throws Error (kUnsupported) where the frames would take too much, and what FrameMemory::allocate() throws.
  FrameLease acquire(std::size_t bytes) override;
  void release(FrameBuffer& buffer) noexcept override;
  /// Ends a waiting acquire(), and all later ones, with an empty lease.
  void cancel() noexcept;

  /// Bytes that the buffers take now.
  std::size_t bytes() const;

 private:
  FrameBuffer& best_for(std::size_t bytes);
  void grow(FrameBuffer& buffer, std::size_t bytes);
  void shrink(FrameBuffer& buffer) noexcept;

  FrameMemory& memory_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<FrameBuffer> buffers_;
  std::vector<FrameBuffer*> free_;
  bool cancelled_ = false;
};

}  // namespace saccade
