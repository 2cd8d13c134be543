#include "media/isolated/shared_pool.hpp"

#include <utility>

#include "base/log.hpp"

namespace saccade::isolated {

std::shared_ptr<SharedPool> SharedPool::create(std::uint32_t generation, std::size_t buffers, std::size_t ahead,
                                               std::size_t bytes, FrameMemory& memory) {
  return std::shared_ptr<SharedPool>(new SharedPool(generation, ahead, SharedMemory::create(buffers, bytes), memory));
}

SharedPool::SharedPool(std::uint32_t generation, std::size_t ahead, SharedMemory memory, FrameMemory& registry)
    : generation_(generation),
      most_ahead_(ahead),
      memory_(std::move(memory)),
      registry_(registry),
      slots_(memory_.buffers()) {
  is_registered_ = registry_.register_host(memory_.data(), memory_.bytes());
  const MemoryKind kind = is_registered_ ? registry_.kind() : MemoryKind::kPlain;
  if (kind != registry_.kind())
    log(LogLevel::kInfo, "shared memory of frames can't be registered with the GPU: they are copied once more");
  for (std::size_t i = 0; i < slots_.size(); ++i)
    slots_[i].buffer = {.data = memory_.buffer(i), .capacity = memory_.capacity(), .memory = kind};
}

SharedPool::~SharedPool() {
  if (is_registered_) registry_.unregister_host(memory_.data());
}

void SharedPool::connect(std::shared_ptr<const Channel> channel) {
  const std::scoped_lock lock(mutex_);
  channel_ = std::move(channel);
  channel_->send(Pool{.generation = generation_,
                      .buffers = static_cast<std::uint32_t>(memory_.buffers()),
                      .bytes = memory_.buffer_bytes()},
                 {}, memory_.descriptor());
  take_back();
  give_buffers();
}

void SharedPool::disconnect() noexcept {
  const std::scoped_lock lock(mutex_);
  channel_.reset();
  take_back();
}

void SharedPool::take_back() noexcept {
  for (Slot& slot : slots_)
    if (slot.holder == Holder::kChild) slot.holder = Holder::kPool;
  ahead_ = 0;
}

/// Under the lock. Does not wait for a child that is stopped: the next call tries again.
void SharedPool::give_buffers() noexcept {
  for (std::uint32_t i = 0; i < slots_.size() && ahead_ < most_ahead_ && channel_ != nullptr; ++i) {
    if (slots_[i].holder != Holder::kPool) continue;
    if (!channel_->try_send(Release{.generation = generation_, .index = i})) return;
    slots_[i].holder = Holder::kChild;
    ++ahead_;
  }
}

void SharedPool::flush() noexcept {
  const std::scoped_lock lock(mutex_);
  give_buffers();
}

bool SharedPool::is_child_waiting() {
  const std::scoped_lock lock(mutex_);
  return channel_ != nullptr && ahead_ == 0;
}

FrameLease SharedPool::lease(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  if (index >= slots_.size() || slots_[index].holder != Holder::kChild) return {};
  slots_[index].holder = Holder::kLease;
  slots_[index].keeper = shared_from_this();
  --ahead_;
  give_buffers();
  return {*this, slots_[index].buffer};
}

void SharedPool::release(FrameBuffer& buffer) noexcept {
  std::shared_ptr<SharedPool> keeper;  // may be the last one: it goes after the lock
  const std::scoped_lock lock(mutex_);
  const std::ptrdiff_t index = (buffer.data - memory_.data()) / static_cast<std::ptrdiff_t>(memory_.buffer_bytes());
  Slot& slot = slots_[static_cast<std::size_t>(index)];
  keeper = std::move(slot.keeper);
  slot.holder = Holder::kPool;
  give_buffers();
}

}  // namespace saccade::isolated
