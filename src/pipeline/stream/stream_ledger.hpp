#pragma once

#include <atomic>

#include "saccade/summary.hpp"

namespace saccade {

/// A stream's live ledger: its reader, the models' thread and the pipeline's caller count concurrently.
class StreamLedger {
 public:
  /// Counts a captured frame with the source's number SEQUENCE. Skipped numbers are lost frames, but for those that
  /// were corrupt, had no buffer or were not decoded. Reader only.
  void capture(std::int64_t sequence) noexcept {
    const std::int64_t gap = sequence - expected_ - uncounted_since_;
    if (gap > 0) {
      captured_ += gap;
      lost_ += gap;
    }
    expected_ = sequence + 1;
    uncounted_since_ = 0;
    ++captured_;
  }

  /// Counts a corrupt frame, which may or may not have consumed a number. Reader only.
  void corrupt() noexcept {
    ++captured_;
    ++corrupt_;
    ++uncounted_since_;
  }

  /// Counts a frame that had no buffer, which may or may not have consumed a number. Reader only.
  void drop_no_buffer() noexcept {
    ++captured_;
    ++no_buffer_;
    ++uncounted_since_;
  }

  /// Counts a frame that was not decoded because the decoder was behind, which may or may not have consumed a number.
  /// Reader only.
  void drop_decoder_behind() noexcept {
    ++captured_;
    ++decoder_behind_;
    ++uncounted_since_;
  }

  void skip() noexcept { ++skipped_; }
  void drop_queue_full() noexcept { ++queue_full_; }
  void drop_stopped() noexcept { ++stopped_; }
  void drop_failed() noexcept { ++failed_; }
  void process() noexcept { ++processed_; }

  std::int64_t captured() const noexcept { return captured_; }
  std::int64_t processed() const noexcept { return processed_; }

  Ledger snapshot() const noexcept {
    // Outgoing counts are written after incoming ones and read before them: frames in flight are never negative.
    Ledger ledger{.processed = processed_,
                  .skipped = skipped_,
                  .queue_full = queue_full_,
                  .no_buffer = no_buffer_,
                  .decoder_behind = decoder_behind_,
                  .stopped = stopped_,
                  .failed = failed_,
                  .corrupt = corrupt_,
                  .lost = lost_};
    ledger.captured = captured_;
    return ledger;
  }

 private:
  using Counter = std::atomic<std::int64_t>;
  Counter captured_{0};
  Counter processed_{0};
  Counter skipped_{0};
  Counter queue_full_{0};
  Counter no_buffer_{0};
  Counter decoder_behind_{0};
  Counter stopped_{0};
  Counter failed_{0};
  Counter corrupt_{0};
  Counter lost_{0};
  std::int64_t expected_ = 0;
  std::int64_t uncounted_since_ = 0;  ///< frames counted without a number since the last one with a number
};

}  // namespace saccade
