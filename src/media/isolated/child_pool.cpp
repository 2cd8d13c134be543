#include "media/isolated/child_pool.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/memory_budget.hpp"

namespace saccade::isolated {

bool ChildPool::fits(std::size_t bytes) const {
  return !generations_.empty() && generations_.back()->memory.capacity() >= bytes;
}

ChildPool::Slot* ChildPool::free_slot() {
  if (generations_.empty()) return nullptr;
  std::vector<Slot>& slots = generations_.back()->slots;
  const auto found = std::ranges::find(slots, Holder::kFree, &Slot::holder);
  return found == slots.end() ? nullptr : &*found;
}

/// Waits for buffers of BYTES.
void ChildPool::request(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  if (cancelled_ || fits(bytes)) return;
  channel_.send(Need{.bytes = bytes});
  changed_.wait(lock, [&] { return cancelled_ || fits(bytes); });
}

/// Under the lock; empty if there is no free buffer, or once cancelled.
FrameLease ChildPool::lease() {
  Slot* const slot = cancelled_ ? nullptr : free_slot();
  if (slot == nullptr) return {};
  slot->holder = Holder::kReader;
  return {*this, slot->buffer};
}

FrameLease ChildPool::acquire(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  request(lock, bytes);
  changed_.wait(lock, [&] { return cancelled_ || free_slot() != nullptr; });
  return lease();
}

FrameLease ChildPool::try_acquire(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const bool is_new = !fits(bytes);
  request(lock, bytes);
  // The buffers of new memory follow it: they are not in use.
  if (is_new) changed_.wait(lock, [&] { return cancelled_ || free_slot() != nullptr; });
  return lease();
}

void ChildPool::wait_for_buffer() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return cancelled_ || generations_.empty() || free_slot() != nullptr; });
}

ChildPool::Slot* ChildPool::slot_of(const FrameBuffer& buffer, Generation*& generation) {
  for (const auto& each : generations_)
    for (Slot& slot : each->slots)
      if (&slot.buffer == &buffer) {
        generation = each.get();
        return &slot;
      }
  return nullptr;
}

void ChildPool::release(FrameBuffer& buffer) noexcept {
  const std::scoped_lock lock(mutex_);
  Generation* generation = nullptr;
  Slot* const slot = slot_of(buffer, generation);
  if (slot != nullptr && slot->holder == Holder::kReader) slot->holder = Holder::kFree;
  drop_unused();
}

std::optional<ChildPool::Place> ChildPool::hand_over(FrameLease& lease) {
  const std::scoped_lock lock(mutex_);
  Generation* generation = nullptr;
  Slot* const slot = slot_of(lease.buffer(), generation);
  // The parent has forgotten older generations.
  if (slot == nullptr || generation != generations_.back().get()) return std::nullopt;
  slot->holder = Holder::kParent;
  return Place{.generation = generation->number,
               .index = static_cast<std::uint32_t>(slot - generation->slots.data()),
               .data = slot->buffer.data};
}

void ChildPool::add(std::uint32_t generation, SharedMemory memory) {
  auto made = std::make_unique<Generation>(Generation{generation, std::move(memory), {}});
  for (std::size_t i = 0; i < made->memory.buffers(); ++i)
    made->slots.push_back({.buffer = {.data = made->memory.buffer(i), .capacity = made->memory.capacity()}});
  {
    const std::scoped_lock lock(mutex_);
    generations_.push_back(std::move(made));
    drop_unused();
  }
  changed_.notify_all();
}

/// Unmaps older buffers that no lease refers to.
void ChildPool::drop_unused() {
  if (generations_.size() < 2) return;
  const auto is_unused = [&](const std::unique_ptr<Generation>& each) {
    return each != generations_.back() &&
           std::ranges::find(each->slots, Holder::kReader, &Slot::holder) == each->slots.end();
  };
  std::erase_if(generations_, is_unused);
}

void ChildPool::give(std::uint32_t generation, std::size_t index) {
  {
    const std::scoped_lock lock(mutex_);
    if (generations_.empty() || generations_.back()->number != generation) return;
    generations_.back()->slots.at(index).holder = Holder::kFree;
  }
  changed_.notify_all();
}

void ChildPool::cancel() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

void ChildPool::take(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const std::size_t limit = default_memory_limit();
  if (beside_ > limit || bytes > limit - beside_)
    fail(ErrorCode::kUnsupported, "{} are needed to decode it, but the limit is {}", readable_bytes(bytes),
         readable_bytes(limit));
  beside_ += bytes;
}

void ChildPool::give_back(std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  beside_ -= bytes;
}

}  // namespace saccade::isolated
