#include "media/paced_reader.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "media/common_start.hpp"
#include "media/read_lead.hpp"

namespace saccade {
namespace {

/// The buffers of the camera that it stands for: it is never further behind.
constexpr int kBuffers = 4;
/// What all but the rarest wake-ups of a thread take on a shared host.
constexpr std::chrono::microseconds kWakeUp(500);

/// Readers that exist.
std::atomic<int> paced_readers{0};

/// Whether no frame follows a read with this result.
bool is_last(Status status) {
  return status == Status::kEnd || status == Status::kLost || status == Status::kCancelled;
}

class PacedReader final : public FrameReader {
 public:
  explicit PacedReader(std::unique_ptr<FrameReader> reader)
      : reader_(std::move(reader)),
        info_(reader_->info()),
        period_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / info_.frame_rate))),
        lead_(period_) {
    info_.live = true;
    ++paced_readers;
  }
  ~PacedReader() override {
    --paced_readers;
    arrive();
  }

  const SourceInfo& info() const override { return info_; }
  int held_buffers() const override { return reader_->held_buffers(); }
  bool is_paced() const override { return true; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    // With models on a GPU decoding takes nothing from them.
    const bool is_shared = allocator.memory().device() < 0;
    auto start = Clock::now();
    if (is_shared && has_begun_) {
      start = std::max(start, due_ + period_ - lead_.value());
      if (!wait_until(start, {})) return cancelled();
    }
    Outcome<Frame> frame = read_unpaced(allocator);
    if (!frame) return frame;
    if (is_awaited_) wait_for_start();
    const auto decoded = Clock::now();
    const Clock::duration step = advance_to(frame->timestamp_ns, decoded);
    // The next frame may come as early after this one, in a file whose rate varies.
    const bool is_early = step < period_ * 3 / 4;
    decoded > due_ || is_early ? lead_.miss() : lead_.add(decoded - start);
    if (const auto latest = decoded - kBuffers * period_; due_ < latest) {
      // It was not read in time: a camera would have had no buffer for this frame. A decoder that is too slow would
      // never catch up by dropping what it has decoded.
      if (decoded - start <= period_) return Failure{Status::kNoBuffer, {}};
      due_ = latest;
    }
    // With models on a GPU a processor is free: alone, the reader is awake when its frame is due, as is the executor.
    const auto awake = !is_shared && paced_readers == 1 ? kWakeUp : Clock::duration::zero();
    if (!wait_until(due_, awake)) return cancelled();
    // A camera captures it now, whether it is decoded before or after.
    frame->captured = std::max(due_, decoded);
    frame->capture_time = std::max<std::chrono::nanoseconds>(decoded - due_, {});
    return frame;
  }

  void begin_with(std::shared_ptr<CommonStart> start) override {
    start_ = std::move(start);
    start_->expect();
    is_awaited_ = true;
  }

  void cancel() noexcept override {
    {
      const std::scoped_lock lock(mutex_);
      cancelled_ = true;
    }
    wake_.notify_all();
    if (start_ != nullptr) start_->wake();
    reader_->cancel();
  }

 private:
  Failure cancelled() const { return {Status::kCancelled, info_.name + ": reading was cancelled"}; }

  Outcome<Frame> read_unpaced(FrameAllocator& allocator) {
    try {
      Outcome<Frame> frame = reader_->read(allocator);
      if (!frame && is_last(frame.failure().status)) arrive();
      return frame;
    } catch (...) {
      arrive();
      throw;
    }
  }

  /// With the first frame: waits for the other sources, then for its place among them.
  void wait_for_start() {
    const double place = arrive();
    start_->wait(cancelled_);
    wait_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(place * period_), {});
  }

  /// At most once. Its place among the sources.
  double arrive() { return std::exchange(is_awaited_, false) ? start_->arrive() : 0; }

  /// Asleep, then awake for the last AWAKE before DUE. False if reading was cancelled.
  bool wait_until(Clock::time_point due, Clock::duration awake) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_until(lock, due - awake, [&] { return cancelled_.load(); })) return false;
    }
    while (Clock::now() < due) std::this_thread::yield();
    return true;
  }

  /// Sets when the frame at TIMESTAMP is due. The first one is at NOW, and so is one after a jump of the timestamps.
  /// The time from the frame before; a period after a jump.
  Clock::duration advance_to(std::int64_t timestamp, Clock::time_point now) {
    constexpr auto kJump = static_cast<std::uint64_t>(60'000'000'000);
    // Unsigned: timestamps of a damaged file may be any number.
    const std::uint64_t step = static_cast<std::uint64_t>(timestamp) - static_cast<std::uint64_t>(last_);
    const bool jumps = !has_begun_ || step > kJump;
    const auto after = jumps ? period_ : Clock::duration(std::chrono::nanoseconds(static_cast<std::int64_t>(step)));
    due_ = jumps ? now : due_ + after;
    has_begun_ = true;
    last_ = timestamp;
    return after;
  }

  std::unique_ptr<FrameReader> reader_;
  SourceInfo info_;
  Clock::duration period_;
  ReadLead lead_;
  bool has_begun_ = false;
  std::int64_t last_ = 0;  ///< timestamp
  Clock::time_point due_;
  std::shared_ptr<CommonStart> start_;  ///< null: it begins when it has a frame
  bool is_awaited_ = false;             ///< by the other sources
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace

std::unique_ptr<FrameReader> pace(std::unique_ptr<FrameReader> reader) {
  if (reader->info().frame_rate <= 0)
    fail(ErrorCode::kInvalidArgument, "{} has no frame rate: only a video or a scene can be read in real time",
         reader->info().name);
  return std::make_unique<PacedReader>(std::move(reader));
}

}  // namespace saccade
