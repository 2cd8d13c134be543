#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade {

/// A fixed number of frame buffers that go round. It allocates only while frames grow, and while all pools together
/// stay within its limit. Any thread. All leases must be gone before the pool goes.
class FramePool final : public FrameAllocator {
 public:
  /// MEMORY outlives the pool. LIMIT in bytes; 0: default_memory_limit().
  explicit FramePool(std::size_t buffers, FrameMemory& memory = plain_frame_memory(), std::size_t limit = 0);
  ~FramePool() override;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Throws Error (kUnsupported) where the frames would take too much, and what FrameMemory::allocate() throws.
  FrameLease acquire(std::size_t bytes) override;
  void release(FrameBuffer& buffer) noexcept override;
  void take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;
  /// Ends a waiting acquire(), and all later ones, with an empty lease.
  void cancel() noexcept;

  /// Bytes that the buffers take now.
  std::size_t bytes() const;

 private:
  FrameBuffer& best_for(std::size_t bytes);
  void grow(FrameBuffer& buffer, std::size_t bytes);
  void shrink(FrameBuffer& buffer) noexcept;

  FrameMemory& memory_;
  std::size_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<FrameBuffer> buffers_;
  std::vector<FrameBuffer*> free_;
  bool cancelled_ = false;
};

}  // namespace saccade
