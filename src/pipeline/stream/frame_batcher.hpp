#pragma once

#include <chrono>
#include <vector>

#include "base/bounded_queue.hpp"
#include "base/clock.hpp"
#include "pipeline/stream/frame_run.hpp"

namespace saccade {

/// Frames that the models process together.
struct FrameBatch {
  std::vector<FrameRunRef> runs;
  std::vector<std::size_t> ended;        ///< streams that have no frames after these
  std::optional<ModelSet::Fault> fault;  ///< why the models have not started
};

/// Takes frames from a queue, lanes in turn, and puts them together. One thread.
class FrameBatcher {
 public:
  struct Lane {
    std::size_t stream = 0;             ///< whose frames it has, an index in the pipeline
    std::chrono::nanoseconds period{};  ///< of its frames; 0: unknown
    bool is_live = false;               ///< its frames come at their own times
    bool has_ended = false;
  };
  struct Options {
    std::size_t most = 1;             ///< frames of a batch
    std::chrono::nanoseconds wait{};  ///< the longest that a frame waits for others
    Clock::time_point deadline = Clock::time_point::max();
  };

  /// QUEUE and RUNS outlive it. LANES are the queue's.
  FrameBatcher(BoundedQueue<Frame>& queue, FrameRunPool& runs, std::vector<Lane> lanes, const Options& options);

  std::size_t lanes() const { return lanes_.size(); }
  /// The thread does not sleep when a frame of the only lane is expected, because waking up takes longer than many a
  /// network.
  void stay_awake() { stays_awake_ = true; }
  /// From now on a batch is one frame.
  void take_one_by_one() { options_.most = 1; }

  /// Adds frames to BATCH until it is full, its oldest frame has waited for long enough, or none is expected before
  /// that. False if there are no frames, and will be none; BATCH then may have lanes that have ended.
  bool fill(FrameBatch& batch);
  /// Adds frames that are there. Whether fill() would not wait for more.
  bool try_fill(FrameBatch& batch);

 private:
  bool is_full(const FrameBatch& batch) const { return batch.runs.size() >= options_.most; }
  PopStatus pop_first(Frame& frame, std::size_t& lane);
  PopStatus add(FrameBatch& batch, Clock::time_point until);
  Clock::time_point next_due(std::size_t lane, Clock::time_point captured) const;
  Clock::time_point latest_start(const FrameBatch& batch) const;
  bool is_any_due(Clock::time_point until) const;

  BoundedQueue<Frame>& queue_;
  FrameRunPool& runs_;
  std::vector<Lane> lanes_;
  Options options_;
  bool stays_awake_ = false;
  std::vector<Clock::time_point> due_;  ///< by lane: when its next frame is expected
};

}  // namespace saccade
