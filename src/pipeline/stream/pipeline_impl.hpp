#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/model/model_set.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "pipeline/stream/stream.hpp"
#include "pipeline/stream/stream_timing.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {

/// Timestamps of a result's frame, by the steady clock.
struct FrameTimes {
  Clock::time_point capture_start;  ///< on its source's thread
  Clock::time_point captured;       ///< decoded
  Clock::time_point requested;      ///< the models were ready
  Clock::time_point fetched;        ///< it left the queue
  Clock::time_point started;        ///< its model started, after the models before
  Clock::time_point finished;       ///< the result was complete
};

class Pipeline::Impl {
 public:
  Impl(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options);
  ~Impl() { end(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Outcome<Result&> next(std::chrono::nanoseconds timeout);
  const FrameView& frame() const { return current_.frame.view; }
  void stop() noexcept;
  Summary summary();
  Telemetry telemetry();

  /// Timestamps of the last result.
  FrameTimes frame_times() const;
  /// Records the launch times of the model with this index; see Execution::time_steps().
  void time_steps(std::size_t model, std::span<StepTime> times) { models_[model].time_steps(times); }
  /// The runner of the model with this index.
  ModelRunner& runner(std::size_t model) { return models_[model]; }
  /// Disables overlapping of frames, for profiling. Call it before the first next().
  void run_one_by_one() { runs_ahead_ = false; }

 private:
  std::optional<Failure> fetch(std::chrono::nanoseconds timeout);
  Outcome<Result&> run_model();
  void complete(Result& result) const;
  void record(const Result& result) noexcept;
  void begin_frame();
  void look_ahead();
  void release_frame();
  void drop_ahead();
  void end();
  Stream& stream() { return *streams_[current_.lane]; }

  std::vector<Source> sources_;
  PipelineOptions options_;
  ModelSet models_;
  /// By lane.
  std::vector<StreamTiming> times_;
  std::vector<std::int64_t> processed_;  ///< at the last telemetry()
  Clock::time_point last_telemetry_;
  Clock::time_point start_;
  Clock::time_point finish_ = Clock::time_point::max();
  Clock::time_point deadline_;
  std::atomic<bool> stopped_{false};
  bool ended_ = false;
  std::int64_t invalid_ = 0;  ///< invalid results

  std::unique_ptr<BoundedQueue<Frame>> queue_;
  std::vector<std::unique_ptr<Stream>> streams_;
  /// A frame taken from the queue.
  struct Fetched {
    Frame frame;
    std::size_t lane = 0;
    Clock::time_point requested;
    Clock::time_point at;
  };
  Fetched current_;               // declared after the streams, to whose pools its pixels return
  std::optional<Fetched> ahead_;  ///< the next frame, already started
  bool runs_ahead_ = false;
  std::size_t turn_ = 0;  ///< index of the next model for the current frame
  bool is_requesting_ = false;
  Clock::time_point requested_;
  Clock::time_point started_;  // of the last result's model
  Clock::time_point finished_;
};

}  // namespace saccade
