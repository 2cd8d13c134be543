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

/// The first frames of a run, moment by moment; what a trace file shows.
struct TraceRecord {
  std::vector<FrameRecord> frames;
  std::vector<StepTime> steps;  ///< by frame, then by step of the plan
  std::int64_t left_out = 0;    ///< later frames, for which there was no room

  std::span<const StepTime> steps_of(std::size_t frame) const {
    const std::size_t count = steps.size() / frames.size();
    return std::span(steps).subspan(frame * count, count);
  }
};

/// Columns of a timeline over a run of unknown length, in fixed memory: when they are all used, every two become one.
class TimelineRecorder {
 public:
  explicit TimelineRecorder(std::size_t columns);
  void add(const FrameRecord& record) noexcept;
  /// Mean times by frame, of capture, queue, pre, model, post.
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

/// Records the frames of a plan in memory that it takes in its constructor. What a frame costs meanwhile is two clock
/// readings a launch; the statistics are made of several frames at once, while their histograms are in the caches. One
/// thread.
class Recorder {
 public:
  /// Frames whose statistics are made at once: long enough that a histogram serves several samples while it is in the
  /// caches, short enough to stay there itself.
  static constexpr std::size_t kBatch = 16;

  /// TRACE_FRAMES: of how many frames every moment is kept.
  Recorder(const Plan& plan, std::size_t trace_frames);

  /// Where the execution of the next frame is to write its launches' times (Execution::time_steps).
  std::span<StepTime> next_steps() { return std::span(batch_steps_).subspan(batch_.size() * steps_, steps_); }
  /// The frame whose launches went there.
  void add(const FrameRecord& record);
  /// Makes statistics of what was added; before anything below is read.
  void flush();

  /// By step of the plan; empty where the step is a view.
  const Histogram& launch(std::size_t step) const { return launches_[step]; }
  const StageTimes& stages() const { return stages_; }
  const Histogram& frame() const { return frame_; }      ///< from a frame's start on the model's thread to its result
  const Histogram& gaps() const { return gaps_; }        ///< time in no launch, between a frame's first and last
  const Histogram& waiting() const { return waiting_; }  ///< for a frame, the models being ready
  const Histogram& outside() const { return outside_; }  ///< from a result to the demand for the next frame
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
  std::vector<std::size_t> launch_steps_;  ///< those that are no views, in order
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
