#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/histogram.hpp"
#include "measure/report/charts.hpp"
#include "pipeline/stream/pipeline_impl.hpp"
#include "pipeline/stream/stage_times.hpp"
#include "runtime/plan.hpp"

namespace saccade {

/// A frame's identity and times.
struct FrameRecord {
  int stream = 0;
  std::int64_t frame = 0;
  FrameTimes times;
  Latency latency;
};

/// The events of the first frames of a run, written to a trace file.
struct TraceRecord {
  std::vector<FrameRecord> frames;
  std::vector<StepTime> steps;  ///< by frame, then by step of the plan
  std::int64_t left_out = 0;    ///< later frames, beyond the capacity

  std::span<const StepTime> steps_of(std::size_t frame) const {
    const std::size_t count = steps.size() / frames.size();
    return std::span(steps).subspan(frame * count, count);
  }
};

/// Columns of a timeline over a run of unknown length, in fixed memory: when all are used, pairs are merged.
class TimelineRecorder {
 public:
  explicit TimelineRecorder(std::size_t columns);
  void add(const FrameRecord& record) noexcept;
  /// Mean times per frame of capture, queue, pre, model, post.
  std::vector<TimelineColumn> columns() const;
  std::int64_t frames_a_column() const { return frames_a_column_; }

 private:
  struct Column {
    Clock::time_point start;
    std::int64_t frames = 0;
    Latency sum;
  };
  void merge_pairs() noexcept;

  std::vector<Column> columns_;
  std::size_t used_ = 0;
  std::int64_t frames_a_column_ = 1;
  Clock::time_point begin_;
};

/// Records the frames of a plan in memory allocated by its constructor. The overhead per launch is two clock readings;
/// statistics are updated in batches of frames, while their histograms are cached. One thread.
class Recorder {
 public:
  /// Frames per batch: enough that a histogram serves several samples while it is cached, few enough to stay in the
  /// caches themselves.
  static constexpr std::size_t kBatch = 16;

  /// TRACE_FRAMES: number of frames whose events are kept.
  Recorder(const Plan& plan, std::size_t trace_frames);

  /// The buffer for the launch times of the next frame (Execution::time_steps).
  std::span<StepTime> next_steps() { return std::span(batch_steps_).subspan(batch_.size() * steps_, steps_); }
  /// The frame whose launch times are in that buffer.
  void add(const FrameRecord& record);
  /// Updates the statistics; required before anything below is read.
  void flush();

  /// By step of the plan; empty for a view.
  const Histogram& launch(std::size_t step) const { return launches_[step]; }
  const StageTimes& stages() const { return stages_; }
  const Histogram& frame() const { return frame_; }      ///< from a frame's start on the models' thread to its result
  const Histogram& gaps() const { return gaps_; }        ///< idle time between a frame's first and last launch
  const Histogram& waiting() const { return waiting_; }  ///< idle time of the models until a frame arrives
  const Histogram& outside() const { return outside_; }  ///< from a result to the request of the next frame
  /// Mean idle time after the launch, by step.
  std::chrono::nanoseconds gap_after(std::size_t step) const;
  const TimelineRecorder& timeline() const { return timeline_; }
  const TraceRecord& trace() const { return trace_; }
  TraceRecord take_trace() { return std::move(trace_); }
  std::int64_t count() const { return frame_.count(); }

 private:
  void fold(const FrameRecord& record, std::span<const StepTime> times);

  std::size_t steps_;
  std::size_t trace_frames_;
  std::vector<std::size_t> launch_steps_;  ///< steps that are not views, in order
  std::vector<FrameRecord> batch_;
  std::vector<StepTime> batch_steps_;
  std::vector<Histogram> launches_;
  std::vector<std::chrono::nanoseconds> gap_sums_;
  StageTimes stages_;
  Histogram frame_;
  Histogram gaps_;
  Histogram waiting_;
  Histogram outside_;
  Clock::time_point last_finished_;
  TimelineRecorder timeline_;
  TraceRecord trace_;
};

}  // namespace saccade
