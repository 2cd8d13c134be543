#pragma once

#include <linux/videodev2.h>

#include <map>
#include <mutex>

#include "media/v4l2/system_calls.hpp"

namespace saccade::test {

/// Linux's system calls, with a record of the buffers that were mapped and dequeued. Any thread may ask.
class RecordingCalls final : public v4l2::SystemCalls {
 public:
  /// Whether PIXELS begin a mapped buffer.
  bool has_mapped(const std::uint8_t* pixels) const {
    const std::scoped_lock lock(mutex_);
    return mapped_.contains(reinterpret_cast<const std::byte*>(pixels));
  }
  /// The driver's time of its frame NUMBER, counted from its first; -1: it was not dequeued.
  std::int64_t time_of(std::int64_t number) const {
    const std::scoped_lock lock(mutex_);
    const auto found = times_.find(number);
    return found == times_.end() ? -1 : found->second;
  }

  int open(const std::string& path) noexcept override { return calls_->open(path); }
  void close(int device) noexcept override { calls_->close(device); }
  int control(int device, std::uint64_t request, void* argument) noexcept override {
    const int error = calls_->control(device, request, argument);
    if (error == 0 && request == VIDIOC_DQBUF) record(*static_cast<const v4l2_buffer*>(argument));
    return error;
  }
  std::byte* map(int device, std::size_t bytes, std::int64_t offset) noexcept override {
    std::byte* const memory = calls_->map(device, bytes, offset);
    const std::scoped_lock lock(mutex_);
    mapped_[memory] = bytes;
    return memory;
  }
  void unmap(std::byte* memory, std::size_t bytes) noexcept override { calls_->unmap(memory, bytes); }
  v4l2::Readiness wait(int device, std::chrono::nanoseconds timeout) noexcept override {
    return calls_->wait(device, timeout);
  }
  void interrupt() noexcept override { calls_->interrupt(); }
  Clock::time_point now() const noexcept override { return calls_->now(); }
  std::vector<std::string> devices() const override { return calls_->devices(); }
  std::string resolve(const std::string& path) const override { return calls_->resolve(path); }
  std::string read_text(const std::string& path) const override { return calls_->read_text(path); }

 private:
  void record(const v4l2_buffer& buffer) {
    const std::scoped_lock lock(mutex_);
    if (times_.empty()) first_ = buffer.sequence;
    times_[std::int64_t{buffer.sequence} - first_] =
        std::int64_t{buffer.timestamp.tv_sec} * 1'000'000'000 + std::int64_t{buffer.timestamp.tv_usec} * 1000;
  }

  std::shared_ptr<v4l2::SystemCalls> calls_ = v4l2::linux_calls();
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::size_t> mapped_;
  std::map<std::int64_t, std::int64_t> times_;
  std::int64_t first_ = 0;
};

}  // namespace saccade::test
