#include <linux/videodev2.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "media/v4l2/camera_options.hpp"
#include "media/v4l2/capture_buffers.hpp"

namespace saccade::v4l2 {
namespace {

/// It owns itself: its leases may outlive the reader and the device, and the last of them destroys it.
class MappedBuffers final : public CaptureBuffers, public FrameAllocator {
 public:
  MappedBuffers(const Device& device, std::shared_ptr<SystemCalls> calls, std::size_t count)
      : CaptureBuffers(V4L2_MEMORY_MMAP), calls_(std::move(calls)), descriptor_(device.descriptor()) {
    buffers_.reserve(count);
    states_.reserve(count);
  }
  ~MappedBuffers() override {
    for (const FrameBuffer& buffer : buffers_) calls_->unmap(buffer.data, buffer.capacity);
  }

  /// Throws Error; what is mapped then is unmapped by the destructor.
  void map_all(const Device& device, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) map(device, i);
  }

  void detach() noexcept override {
    const std::scoped_lock lock(mutex_);
    descriptor_ = -1;
  }

  void retire() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      descriptor_ = -1;
      is_retired_ = true;
      if (leased_ > 0) return;
    }
    delete this;
  }

  int queue(FrameAllocator& /*allocator*/) override {
    const std::scoped_lock lock(mutex_);
    int first = 0;
    for (std::uint32_t i = 0; i < states_.size(); ++i) {
      const int error = states_[i] == State::kFree ? give_to_driver(i) : 0;
      if (first == 0) first = error;
    }
    return first;
  }

  FrameLease take_filled(std::uint32_t index) override {
    const std::scoped_lock lock(mutex_);
    if (index >= states_.size() || states_[index] != State::kQueued) return {};
    states_[index] = State::kLeased;
    ++leased_;
    if (--queued_ == 0) ran_dry_ = true;
    return {*this, buffers_[index]};
  }

  void stop(const Device& device) noexcept override {
    const std::scoped_lock lock(mutex_);
    device.stop_stream();
    for (State& state : states_)
      if (state == State::kQueued) state = State::kFree;
    queued_ = 0;
  }

  int queued() const override {
    const std::scoped_lock lock(mutex_);
    return queued_;
  }

  bool has_free() const override {
    const std::scoped_lock lock(mutex_);
    return std::ranges::find(states_, State::kFree) != states_.end();
  }

  // The frames are the driver's: these are for sources that write into a pool.
  FrameLease acquire(std::size_t /*bytes*/) override { return {}; }
  FrameLease try_acquire(std::size_t /*bytes*/) override { return {}; }

  void release(FrameBuffer& buffer) noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      const auto index = static_cast<std::uint32_t>(&buffer - buffers_.data());
      states_[index] = State::kFree;
      --leased_;
      if (descriptor_ >= 0) give_to_driver(index);  // refused, it stays free until queue()
      if (!is_retired_ || leased_ > 0) return;
    }
    delete this;
  }

 private:
  enum class State : std::uint8_t { kFree, kQueued, kLeased };

  void map(const Device& device, std::uint32_t index) {
    v4l2_buffer buffer{};
    buffer.index = index;
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = memory_type();
    if (const int error = device.control(VIDIOC_QUERYBUF, &buffer); error != 0)
      device.refused("its buffers can't be found", error);
    std::byte* data = calls_->map(device.descriptor(), buffer.length, buffer.m.offset);
    if (data == nullptr) fail(ErrorCode::kDevice, "{}: its buffers can't be mapped", device.name());
    buffers_.push_back({data, buffer.length, MemoryKind::kPlain});
    states_.push_back(State::kFree);
  }

  /// Under the lock.
  int give_to_driver(std::uint32_t index) noexcept {
    v4l2_buffer buffer{};
    buffer.index = index;
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = memory_type();
    const int error = calls_->control(descriptor_, VIDIOC_QBUF, &buffer);
    if (error != 0) {
      ++refusals_;
      return error;
    }
    states_[index] = State::kQueued;
    ++queued_;
    return 0;
  }

  std::shared_ptr<SystemCalls> calls_;
  mutable std::mutex mutex_;
  int descriptor_;  ///< -1: detached
  bool is_retired_ = false;
  std::vector<FrameBuffer> buffers_;
  std::vector<State> states_;
  int queued_ = 0;
  int leased_ = 0;
};

}  // namespace

BuffersOwner map_buffers(const Device& device, const std::shared_ptr<SystemCalls>& calls, int count) {
  v4l2_requestbuffers request{};
  request.count = static_cast<std::uint32_t>(count);
  request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  request.memory = V4L2_MEMORY_MMAP;
  if (const int error = device.control(VIDIOC_REQBUFS, &request); error != 0)
    device.refused("its driver refuses buffers", error);
  if (request.count < kFewestBuffers)
    fail(ErrorCode::kDevice, "{}: its driver has {} buffers only", device.name(), request.count);
  auto buffers = std::make_unique<MappedBuffers>(device, calls, request.count);
  buffers->map_all(device, request.count);
  return BuffersOwner(buffers.release());
}

}  // namespace saccade::v4l2
