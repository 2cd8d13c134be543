#include "media/looping_reader.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>

namespace saccade {
namespace {

class LoopingReader final : public FrameReader {
 public:
  LoopingReader(OpenReader open, std::unique_ptr<FrameReader> first)
      : open_(std::move(open)), reader_(std::move(first)), held_buffers_(reader_->held_buffers()) {
    reader_->expect_rewind();
    info_ = reader_->info();
    info_.frames = -1;
    info_.endless = true;
    if (info_.frame_rate > 0) step_ = static_cast<std::int64_t>(1e9 / info_.frame_rate);
  }

  const SourceInfo& info() const override { return info_; }
  int held_buffers() const override { return held_buffers_; }

  Outcome<Frame> read(FrameAllocator& allocator) override {
    while (true) {
      if (reader_ == nullptr) return cancelled_ ? cancelled() : Failure{Status::kLost, lost_};
      Outcome<Frame> frame = reader_->read(allocator);
      if (frame) return counted_on(std::move(*frame));
      // An empty round would be followed by further empty ones.
      if (frame.failure().status != Status::kEnd || frames_this_round_ == 0 || cancelled_) return frame;
      if (auto failure = start_anew()) return std::move(*failure);
    }
  }

  void cancel() noexcept override {
    cancelled_ = true;
    const std::scoped_lock lock(mutex_);
    if (reader_ != nullptr) reader_->cancel();
  }

 private:
  Frame counted_on(Frame frame) {
    if (frames_this_round_++ == 0 && first_sequence_ > 0) offset_ = next_timestamp_ - frame.timestamp_ns;
    frame.sequence += first_sequence_;
    frame.timestamp_ns += offset_;
    next_sequence_ = frame.sequence + 1;
    // The longest interval within a round, or that of the frame rate, is between two rounds.
    if (frames_this_round_ > 1) step_ = std::max(step_, frame.timestamp_ns - last_timestamp_);
    last_timestamp_ = frame.timestamp_ns;
    next_timestamp_ = last_timestamp_ + step_;
    // The name must outlive the round that it comes from.
    if (!frame.name.empty()) {
      auto known = names_.find(frame.name);
      if (known == names_.end()) known = names_.emplace(frame.name).first;
      frame.name = *known;
    }
    return frame;
  }

  std::optional<Failure> start_anew() {
    try {
      if (!reader_->rewind()) open_again();
    } catch (const Error& error) {
      lost_ = error.what();
      return Failure{Status::kLost, lost_};
    }
    if (cancelled_) return cancelled();
    frames_this_round_ = 0;
    first_sequence_ = next_sequence_;
    return std::nullopt;
  }

  /// The next round's reader takes the memory of the last one's.
  void open_again() {
    std::unique_ptr<FrameReader> last;
    {
      const std::scoped_lock lock(mutex_);
      last = std::move(reader_);
    }
    last.reset();
    std::unique_ptr<FrameReader> next = open_();
    next->expect_rewind();
    const std::scoped_lock lock(mutex_);
    if (cancelled_) next->cancel();
    reader_ = std::move(next);
  }

  Failure cancelled() const { return {Status::kCancelled, info_.name + ": reading was cancelled"}; }

  OpenReader open_;
  SourceInfo info_;
  std::mutex mutex_;                     // guards reader_ against cancel()
  std::unique_ptr<FrameReader> reader_;  // null: opening it again has failed
  int held_buffers_;
  std::string lost_;  // why
  std::atomic<bool> cancelled_{false};
  std::set<std::string, std::less<>> names_;
  std::int64_t frames_this_round_ = 0;
  std::int64_t first_sequence_ = 0;
  std::int64_t next_sequence_ = 0;
  std::int64_t offset_ = 0;  // of this round's timestamps
  std::int64_t last_timestamp_ = 0;
  std::int64_t next_timestamp_ = 0;  // of the next round's first frame
  std::int64_t step_ = 0;
};

}  // namespace

std::unique_ptr<FrameReader> open_looping(OpenReader open) {
  std::unique_ptr<FrameReader> reader = open();
  if (reader->info().live) return reader;
  return std::make_unique<LoopingReader>(std::move(open), std::move(reader));
}

std::unique_ptr<FrameReader> open_looping(const std::string& uri) {
  return open_looping(OpenReader([uri] { return open_reader(uri); }));
}

}  // namespace saccade
