#include "media/waiting_reader.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "media/v4l2/camera_options.hpp"

namespace saccade {
namespace {

/// Whether ERROR may pass without a change of the command: the device is not plugged in, its node has no permissions
/// yet, or another program still uses it.
bool may_pass(const Error& error) {
  return error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kIo || error.code() == ErrorCode::kDevice;
}

class WaitingReader final : public FrameReader {
 public:
  WaitingReader(std::string name, OpenReader open, std::chrono::nanoseconds period)
      : open_(std::move(open)), period_(period) {
    info_.name = std::move(name);
    info_.live = true;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    if (reader_ == nullptr)
      if (auto failure = try_to_open()) return std::move(*failure);
    return reader_->read(allocator);
  }

  SourceFaults faults() const override {
    const std::scoped_lock lock(mutex_);
    return reader_ == nullptr ? SourceFaults() : reader_->faults();
  }
  /// The most that any camera holds: the pool is made before it is there.
  int held_buffers() const override {
    const std::scoped_lock lock(mutex_);
    return reader_ == nullptr ? v4l2::kMostBuffers : reader_->held_buffers();
  }

  void cancel() noexcept override {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
    if (reader_ != nullptr) reader_->cancel();
  }

 private:
  /// Why the source is not open yet; nothing once it is.
  std::optional<Failure> try_to_open() {
    if (!rest()) return cancelled();
    std::unique_ptr<FrameReader> reader;
    try {
      reader = open_();
    } catch (const Error& error) {
      if (!may_pass(error)) return Failure{Status::kLost, error.what()};
      return Failure{Status::kTimeout, fmt::format("{}; waiting for it", error.what())};
    }
    const std::scoped_lock lock(mutex_);
    if (cancelled_) return cancelled();
    reader_ = std::move(reader);
    return {};
  }

  /// Waits between two tries. False if reading was cancelled.
  bool rest() {
    std::unique_lock lock(mutex_);
    return !wake_.wait_for(lock, period_, [&] { return cancelled_; });
  }

  Failure cancelled() const { return {Status::kCancelled, info_.name + ": reading was cancelled"}; }

  SourceInfo info_;
  OpenReader open_;
  std::chrono::nanoseconds period_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool cancelled_ = false;
  std::unique_ptr<FrameReader> reader_;  ///< null: not open yet; set once, under the lock, by the thread that reads
};

}  // namespace

std::unique_ptr<FrameReader> open_or_wait(const std::string& name, OpenReader open, std::chrono::nanoseconds period) {
  try {
    return open();
  } catch (const Error& error) {
    if (!may_pass(error)) throw;
  }
  return std::make_unique<WaitingReader>(name, std::move(open), period);
}

}  // namespace saccade
