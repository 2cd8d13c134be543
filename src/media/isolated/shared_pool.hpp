#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "media/isolated/channel.hpp"
#include "media/isolated/shared_memory.hpp"
#include "tensor/frame.hpp"

namespace saccade::isolated {

/// The parent's side of the shared buffers: a child fills them, leases return them to it. Outlives its child, and lives
/// until the last lease ends. Any thread.
class SharedPool final : public FrameAllocator, public std::enable_shared_from_this<SharedPool> {
 public:
  /// The child's share of the buffers. With all of them, it would read a file far ahead.
  static std::size_t ahead(bool is_live) {
    // One is filled, one is on its way, and one hides the time until a process wakes. A camera does not wait while the
    // parent has no processor.
    return is_live ? 4 : 3;
  }
  /// BUFFERS of at least BYTES, of which a child has AHEAD at a time, registered with MEMORY if that is pinned. Throws
  /// Error (kIo).
  static std::shared_ptr<SharedPool> create(std::uint32_t generation, std::size_t buffers, std::size_t ahead,
                                            std::size_t bytes, FrameMemory& memory);
  ~SharedPool() override;
  SharedPool(const SharedPool&) = delete;
  SharedPool& operator=(const SharedPool&) = delete;

  std::uint32_t generation() const { return generation_; }
  std::size_t buffers() const override { return memory_.buffers(); }
  /// Of one buffer.
  std::size_t capacity() const { return memory_.capacity(); }
  std::size_t bytes() const { return memory_.bytes(); }

  /// Gives the memory, and buffers without a lease, to the child behind CHANNEL.
  void connect(std::shared_ptr<const Channel> channel);
  /// The child has ended: its buffers return.
  void disconnect() noexcept;
  /// Gives buffers that the socket could not take before.
  void flush() noexcept;
  /// Whether a child has this memory, but no buffer to fill: it waits.
  bool is_child_waiting();
  /// The buffer that the child has filled, for which it gets another one; empty if it did not have it.
  FrameLease lease(std::size_t index);

  /// Only the child has free buffers.
  FrameLease acquire(std::size_t) override { return {}; }
  FrameLease try_acquire(std::size_t) override { return {}; }
  void release(FrameBuffer& buffer) noexcept override;

 private:
  enum class Holder { kPool, kChild, kLease };
  struct Slot {
    FrameBuffer buffer;
    Holder holder = Holder::kPool;
    std::shared_ptr<SharedPool> keeper;  ///< this pool, while there is a lease
  };

  SharedPool(std::uint32_t generation, std::size_t ahead, SharedMemory memory, FrameMemory& registry);
  void give_buffers() noexcept;
  void take_back() noexcept;

  std::uint32_t generation_;
  std::size_t most_ahead_;
  SharedMemory memory_;
  FrameMemory& registry_;
  bool is_registered_ = false;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::size_t ahead_ = 0;  ///< slots of the child
  std::shared_ptr<const Channel> channel_;
};

}  // namespace saccade::isolated
