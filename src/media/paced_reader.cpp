#include "media/paced_reader.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

class PacedReader final : public FrameReader {
 public:
  explicit PacedReader(std::unique_ptr<FrameReader> reader) : reader_(std::move(reader)), info_(reader_->info()) {
    info_.live = true;
  }

  const SourceInfo& info() const override { return info_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    Outcome<Frame> frame = reader_->read(allocator);
    if (!frame) return frame;
    if (!start_) start_ = Clock::now() - std::chrono::nanoseconds(frame->timestamp_ns);
    if (!wait_until(*start_ + std::chrono::nanoseconds(frame->timestamp_ns)))
      return Failure{Status::kCancelled, info_.name + ": reading was cancelled"};
    frame->captured = Clock::now();
    return frame;
  }

  void cancel() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      cancelled_ = true;
    }
    wake_.notify_all();
    reader_->cancel();
  }

 private:
  /// False if reading was cancelled.
  bool wait_until(Clock::time_point due) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_until(lock, due, [&] { return cancelled_; });
  }

  std::unique_ptr<FrameReader> reader_;
  SourceInfo info_;
  std::optional<Clock::time_point> start_;  ///< when timestamp 0 was due
  std::mutex mutex_;
  std::condition_variable wake_;
  bool cancelled_ = false;
};

}  // namespace

std::unique_ptr<FrameReader> pace(std::unique_ptr<FrameReader> reader) {
  if (reader->info().frame_rate <= 0)
    fail(ErrorCode::kInvalidArgument, "{} has no frame rate: only a video or a scene can be read in real time",
         reader->info().name);
  return std::make_unique<PacedReader>(std::move(reader));
}

}  // namespace saccade
