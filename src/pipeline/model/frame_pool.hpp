#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade {

/// A fixed number of reusable frame buffers. It allocates only while frames grow; all pools together stay within its
/// limit. Any thread. All leases must be released before the pool is destroyed.
class FramePool final : public FrameAllocator {
 public:
  /// MEMORY must outlive the pool. LIMIT in bytes; 0: default_memory_limit(). FLAG is the one that raises it.
  explicit FramePool(std::size_t buffers, FrameMemory& memory = plain_frame_memory(), std::size_t limit = 0,
                     const char* flag = "--max-model-memory");
  ~FramePool() override;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Throws Error (kUnsupported) if the memory limit is exceeded, and what FrameMemory::allocate() throws.
  FrameLease acquire(std::size_t bytes) override;
  FrameLease try_acquire(std::size_t bytes) override;
  void release(FrameBuffer& buffer) noexcept override;
  void take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;
  bool has_spare(std::size_t bytes) const override;
  std::size_t buffers() const override { return buffers_.size(); }
  FrameMemory& memory() override { return memory_; }
  /// Brings the free buffers to the size of the largest one, with their pages in memory, so that frames that are late
  /// wait for no allocation. UNUSED buffers, and those beyond half of the limit, are allocated when they are needed.
  void fill_up(std::size_t unused = 0);
  /// Ends current and later calls of acquire() with an empty lease.
  void cancel() noexcept;

  /// Current size of the buffers in bytes.
  std::size_t bytes() const;

 private:
  FrameBuffer& best_for(std::size_t bytes);
  FrameLease lease(std::size_t bytes);
  void grow(FrameBuffer& buffer, std::size_t bytes);
  std::size_t limit() const;
  void shrink(FrameBuffer& buffer) noexcept;

  FrameMemory& memory_;
  std::size_t limit_;
  const char* flag_;
  std::atomic<std::size_t> taken_{0};  ///< bytes, not given back
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<FrameBuffer> buffers_;
  std::vector<FrameBuffer*> free_;
  std::size_t largest_ = 0;  ///< capacity of a buffer, so far
  std::size_t filled_ = 0;   ///< largest_ at the last fill_up()
  bool cancelled_ = false;
};

}  // namespace saccade
