#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "pipeline/stream/device_worker.hpp"
#include "pipeline/stream/sink_runner.hpp"
#include "pipeline/stream/source_impl.hpp"
#include "pipeline/stream/stream.hpp"
#include "pipeline/stream/stream_timing.hpp"
#include "pipeline/stream/stream_zones.hpp"
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
  Impl(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options,
       std::vector<PipelineSink> sinks);
  ~Impl() { end(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Outcome<Result&> next(std::chrono::nanoseconds timeout);
  const FrameView& frame() {
    pixels_ = host_view(current_->frame);
    return pixels_;
  }
  void stop() noexcept;
  Summary finish();
  Summary summary();
  Telemetry telemetry();

  /// Timestamps of the last result.
  FrameTimes frame_times() const;
  /// Records the launch times of the model with this index; see Execution::time_steps(). While the models rest.
  void time_steps(std::size_t model, std::span<StepTime> times) { runner(model).time_steps(times); }
  /// The runner of the model with this index, on the first device. While the models rest.
  ModelRunner& runner(std::size_t model) { return workers_.front()->models[model]; }
  /// From now on the models rest between two calls of next(), for profiling. Call it before the first next().
  void run_one_by_one() {
    for (const auto& worker : workers_) {
      worker->frames->take_one_by_one();
      worker->executor->run_in_lockstep();
    }
  }

 private:
  /// Where the frames of a stream are processed.
  struct StreamPlace {
    DeviceWorker* worker = nullptr;
    std::size_t lane = 0;  ///< of its queue

    std::size_t queued() const { return worker->queue->size(lane); }
  };
  static std::vector<StreamPlace> places_of(const DeviceWorkers& workers, std::size_t streams);
  std::optional<Failure> fetch(std::chrono::nanoseconds timeout);
  void check_executors();
  void complete(FrameRunRef run);
  void start_streams(std::span<const Stream::Place> places);
  void warn_of_failure(const FrameRun& run);
  std::string failure_of(const FrameRun& run) const;
  void identify(FrameRun& run) const;
  void count(const FrameRun& run);
  void record(const FrameRun& run, std::size_t model);
  void end();

  std::vector<Source> sources_;
  // Before the models, so that an error in them does not wait for compilation. Results refer to their names.
  std::unique_ptr<StreamZones> zones_;  ///< null: none
  DeviceWorkers workers_;
  std::vector<StreamPlace> places_;  ///< by stream
  std::deque<StreamTiming> times_;   ///< by stream
  Clock::time_point start_;
  Clock::time_point deadline_;
  std::atomic<bool> stopped_{false};
  std::atomic<std::int64_t> invalid_ = 0;  ///< invalid results
  std::atomic<double> model_runs_ = 0;     ///< of processed frames
  std::atomic<bool> has_warned_ = false;   ///< of a failure

  std::mutex mutex_;                     ///< of the following four
  std::vector<std::int64_t> processed_;  ///< at the last telemetry()
  Clock::time_point last_telemetry_;
  Clock::time_point finish_ = Clock::time_point::max();
  bool ended_ = false;

  std::vector<std::unique_ptr<Stream>> streams_;
  // Declared after the streams, to whose pools the pixels of frames return.
  std::unique_ptr<FrameRunPool> runs_;
  std::unique_ptr<BoundedQueue<FrameRunRef>> results_;  ///< for next(), by lane
  std::vector<std::unique_ptr<SinkRunner>> sinks_;
  FrameRunRef current_;       ///< whose results next() returns
  std::size_t returned_ = 0;  ///< of its results
  FrameView pixels_;          ///< that frame() returns
};

}  // namespace saccade
