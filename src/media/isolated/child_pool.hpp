#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "media/isolated/channel.hpp"
#include "media/isolated/shared_memory.hpp"
#include "tensor/frame.hpp"

namespace saccade::isolated {

/// The child's side of the shared buffers: a reader writes its frames into them. One thread acquires and sends, another
/// adds and returns.
class ChildPool final : public FrameAllocator {
 public:
  /// A buffer as messages name it.
  struct Place {
    std::uint32_t generation = 0;
    std::uint32_t index = 0;
    const std::byte* data = nullptr;
  };

  explicit ChildPool(const Channel& channel) : channel_(channel) {}

  FrameLease acquire(std::size_t bytes) override;
  FrameLease try_acquire(std::size_t bytes) override;
  void release(FrameBuffer& buffer) noexcept override;
  void take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;

  /// Waits for a free buffer, if there is memory: so that the wait is no part of a frame's capture.
  void wait_for_buffer();
  /// Where the buffer of LEASE is, which belongs to the parent from now on; nothing if it is not of this pool.
  std::optional<Place> hand_over(FrameLease& lease);

  /// What the parent sends after kNeed.
  void add(std::uint32_t generation, SharedMemory memory);
  /// The parent has released a buffer.
  void give(std::uint32_t generation, std::size_t index);
  /// Ends current and later calls of acquire() with an empty lease.
  void cancel() noexcept;

 private:
  enum class Holder { kParent, kFree, kReader };
  struct Slot {
    FrameBuffer buffer;
    Holder holder = Holder::kParent;
  };
  /// Buffers of one size. Those of an older generation are kept while the reader has one of them.
  struct Generation {
    std::uint32_t number = 0;
    SharedMemory memory;
    std::vector<Slot> slots;
  };

  Slot* free_slot();
  Slot* slot_of(const FrameBuffer& buffer, Generation*& generation);
  bool fits(std::size_t bytes) const;
  void request(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  FrameLease lease();
  void drop_unused();

  const Channel& channel_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Generation>> generations_;  ///< the last one is in use
  std::size_t beside_ = 0;                                ///< bytes, by take()
  bool cancelled_ = false;
};

}  // namespace saccade::isolated
