#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/bounded_queue.hpp"
#include "base/histogram.hpp"
#include "pipeline/stream/frame_run.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {

/// Writes results into a sink on its own thread. While the sink fails, a result is tried after each RETRY; the others
/// are counted. Any thread may push,
/// and ask for telemetry() and summary().
class SinkRunner {
 public:
  /// Frames in the queue of SINK.
  static std::size_t capacity_of(const PipelineSink& sink);

  /// WAITS: a full queue makes push() wait; otherwise its oldest frame is dropped. While the sink fails, RETRY is the
  /// time between two results that are tried. Throws Error if there is no sink.
  SinkRunner(PipelineSink sink, bool waits, std::chrono::nanoseconds retry = std::chrono::seconds(1));
  /// Frames that are still in its queue are dropped.
  ~SinkRunner();
  SinkRunner(const SinkRunner&) = delete;
  SinkRunner& operator=(const SinkRunner&) = delete;

  /// Whether it gets the results of the source with the index LANE.
  bool takes(std::size_t lane) const { return !stream_ || *stream_ == lane; }
  /// Appends the results of RUN.
  void push(FrameRunRef run);
  /// From now on no result is accepted; push() drops them. Those in the queue are written. Any thread.
  void end();
  /// Waits until all results in the queue are written, after end(). False if that takes until DEADLINE.
  bool wait_until(Clock::time_point deadline);
  /// end(), and waits until all results in the queue are written.
  void finish();
  /// Completes the sink, once, after finish(). An error counts as its fault.
  void close(const Summary& summary) noexcept;

  /// Whether an error has ended it. Any thread.
  bool has_ended() const noexcept { return has_ended_; }
  SinkTelemetry telemetry() const;
  SinkSummary summary() const;

 private:
  void write_all();
  void write(const Result& result, const Frame& frame);
  void skip() noexcept;
  void succeed(std::chrono::nanoseconds time);
  void fail_result(std::string message);
  std::int64_t shown_written(std::int64_t lost) const;

  std::string name_;
  std::unique_ptr<Sink> sink_;
  BoundedQueue<FrameRunRef> queue_;

  mutable std::mutex mutex_;  ///< of the counts
  std::int64_t written_ = 0;
  std::int64_t dropped_ = 0;
  std::int64_t failed_ = 0;
  mutable std::int64_t shown_written_ = 0;  ///< the most that was shown as written
  bool is_complete_ = false;                ///< the sink is closed: its counts are final
  bool failing_ = false;                    ///< written by its thread alone
  std::string fault_;
  Histogram time_;

  Clock::time_point failing_since_;
  const bool retries_;
  const std::optional<std::size_t> stream_;
  const std::chrono::nanoseconds retry_;
  std::atomic<bool> has_ended_ = false;
  Clock::time_point next_try_;
  bool is_closed_ = false;
  std::condition_variable drained_;
  bool is_drained_ = false;  ///< under the mutex
  std::thread thread_;       ///< last member: the thread uses all the others
};

}  // namespace saccade
