#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/frame.hpp"

namespace saccade {

/// A fixed number of frame buffers that go round. It allocates only while frames grow. Any thread. All leases must be
/// gone before the pool goes.
class FramePool final : public FrameAllocator {
 public:
  explicit FramePool(std::size_t buffers);
  ~FramePool() override;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  /// Throws std::bad_alloc where the system has no memory left.
  FrameLease acquire(std::size_t bytes) override;
  void release(FrameBuffer& buffer) noexcept override;
  /// Ends a waiting acquire(), and all later ones, with an empty lease.
  void cancel() noexcept;

  /// Bytes that the buffers take now.
  std::size_t bytes() const;

 private:
  FrameBuffer& best_for(std::size_t bytes);

  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<FrameBuffer> buffers_;
  std::vector<FrameBuffer*> free_;
  bool cancelled_ = false;
};

}  // namespace saccade
