#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace saccade::isolated {

/// Where a source goes on after the death of its child, and when. Pure arithmetic, of one thread.
class Restarts {
 public:
  static constexpr int kMostDeaths = 3;  ///< at one frame that is not live
  static constexpr int kMostSkipped = 10;

  explicit Restarts(bool is_live) : is_live_(is_live) {}

  /// The least number that the next frame of the child may have.
  std::int64_t next_of_child() const { return is_rebased_ ? last_ + 1 - base_ : 0; }
  /// The source's number of the child's frame SEQUENCE, which is delivered.
  std::int64_t deliver(std::int64_t sequence) {
    // A camera counts from 0 again. The frame that was being read is lost.
    if (!is_rebased_) base_ = is_live_ ? next_ + 1 - sequence : 0;
    is_rebased_ = true;
    last_ = base_ + sequence;
    next_ = last_ + 1;
    pass();
    return last_;
  }
  /// A frame without pixels that may have had a number.
  void deliver_nothing() {
    ++next_;
    pass();
  }
  /// Frames and corrupt frames that a new child must drop.
  std::int64_t delivered() const { return is_live_ ? 0 : delivered_; }
  const std::vector<std::int64_t>& skipped() const { return skipped_; }

  /// The child has died.
  void die() {
    ++deaths_;
    is_rebased_ = !is_live_;
  }
  /// How long to wait before the next one starts.
  std::chrono::milliseconds pause() const {
    constexpr int kLongest = 1000;
    return std::chrono::milliseconds(deaths_ < 2 ? 0 : std::min(kLongest, 25 << std::min(deaths_, 6)));
  }
  int deaths() const { return deaths_; }
  /// Whether the child dies at the same frame again and again.
  bool is_stuck() const { return !is_live_ && deaths_ >= kMostDeaths; }
  /// False after many skipped frames in a row: the rest of the file is lost.
  bool may_skip() const { return skipped_in_row_ < kMostSkipped; }
  /// Passes over that frame, and returns its number. AT is what its reader was decoding; negative: that frame.
  std::int64_t skip(std::int64_t at) {
    const std::int64_t frame = delivered_;
    skipped_.push_back(at < 0 ? frame : at);
    const int in_row = skipped_in_row_ + 1;
    deliver_nothing();
    skipped_in_row_ = in_row;
    return frame;
  }
  /// The source begins again.
  void rewind() { *this = Restarts(is_live_); }

 private:
  void pass() {
    ++delivered_;
    deaths_ = 0;
    skipped_in_row_ = 0;
  }

  bool is_live_;
  bool is_rebased_ = true;
  std::int64_t base_ = 0;   ///< number of the child's frame 0
  std::int64_t last_ = -1;  ///< number of the last frame
  std::int64_t next_ = 0;   ///< the same plus one, and the frames without pixels since
  std::int64_t delivered_ = 0;
  int deaths_ = 0;  ///< since the last frame
  std::vector<std::int64_t> skipped_;
  int skipped_in_row_ = 0;
};

}  // namespace saccade::isolated
