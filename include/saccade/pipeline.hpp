#pragma once

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saccade/device.hpp"
#include "saccade/drop_policy.hpp"
#include "saccade/frame.hpp"
#include "saccade/model.hpp"
#include "saccade/outcome.hpp"
#include "saccade/results.hpp"
#include "saccade/sinks.hpp"
#include "saccade/source.hpp"
#include "saccade/summary.hpp"
#include "saccade/telemetry.hpp"
#include "saccade/zones.hpp"

namespace saccade {

/// Options of a Pipeline.
struct PipelineOptions {
  /// Each of these devices runs all models, on a thread of its own, on the frames of the sources that it gets. Sources
  /// are dealt out by their rates, so that devices are busy for equal shares of the time; a source stays on its device.
  /// Empty: the models run where they were loaded, on one thread. An Error (kInvalidArgument) if one is there twice, or
  /// is Device::Kind::kAuto; those that Model::load() throws if a model can't run on one.
  std::vector<Device> devices;
  /// What a full queue drops.
  DropPolicy drop = DropPolicy::kAuto;
  std::size_t queue = 0;   ///< queue capacity per source; 0: 1 for a live one, else 4
  std::int64_t every = 1;  ///< process every Nth frame of each source, the first one first; skip the others
  /// Process at most this number of frames per second of each source, by their timestamps; skip the others. 0: all.
  double max_rate = 0;
  /// The most frames that the models process at once, of one source or several; at most 256. Each model is compiled for
  /// 1, 2, 4, ... and so many images; fewer frames run on the next larger plan. A model of which it can't be shown that
  /// it keeps images apart is an Error (kUnsupported) that names the node. 0: up to 32, the smallest that keeps up with
  /// the rates of live sources and with latency_goal, by measured runs; for files the fastest.
  std::size_t batch = 1;
  /// A frame waits for others no longer than this. It does not wait if none is expected in this time.
  std::chrono::nanoseconds batch_wait = std::chrono::milliseconds(2);
  /// With batch 0: the longest time from a frame's capture to its result; 0: none.
  std::chrono::nanoseconds latency_goal{};
  std::int64_t max_frames = 0;          ///< captured frames per source; 0: all
  std::chrono::nanoseconds duration{};  ///< stop after this time; 0: never
  /// Memory limit in bytes for models, frames and results together; 0: ModelOptions::max_memory for each model, and the
  /// largest of these for all frames. Exceeding it at the start is an Error that lists who takes what. Later, a source
  /// whose frames grow beyond it is lost. ModelOptions::max_memory limits the compilation before.
  std::size_t max_memory = 0;
  /// Lines and areas in which tracked objects are counted: detections with a track_id. An Error (kInvalidArgument) if a
  /// source, a model or a class of one is not there, or a point is outside of the source's frames.
  std::vector<Zone> zones;
};

/// A sink that writes every result of a pipeline on a thread of its own.
struct PipelineSink {
  std::string name;            ///< in messages, telemetry and the summary
  std::unique_ptr<Sink> sink;  ///< not null
  std::size_t queue = 0;       ///< capacity of its queue in frames; 0: 4
  /// Whether it is tried again every second after an error. If not, the error ends it.
  bool retry = true;
  std::optional<std::size_t> stream;  ///< the index of the only source whose results it gets; nothing: all do
};

/// Runs models on the frames of sources. Each source has a thread that reads ahead into a bounded queue. One thread per
/// device runs the models and passes on the results: to next(), and to every sink. If all sources are files, the models
/// wait for whoever reads the results; with a live source, results that are not read in time are dropped and counted:
/// the oldest of a sink's queue, and of next() those that exceed the capacity of the source's queue, as its DropPolicy
/// says. A sink that fails stops neither the models nor other sinks; once every sink was ended by an error, the
/// pipeline is stopped. Does not allocate once its results have had their largest sizes. One thread at a time, except
/// stop(), telemetry() and summary().
class Pipeline {
 public:
  /// Compiles the models if needed and starts to read. Throws Error if a model cannot run on frames, a source is
  /// already in use, or (kUnsupported) PipelineOptions::max_memory is not enough.
  Pipeline(Source source, Model model, const PipelineOptions& options = {});
  /// Every model processes every frame of every source.
  Pipeline(std::vector<Source> sources, const std::vector<Model>& models, const PipelineOptions& options = {},
           std::vector<PipelineSink> sinks = {});
  /// Stops the pipeline. Sinks are not closed: they leave what they wrote so far.
  ~Pipeline();
  /// The pipeline that was moved from can only be assigned or destroyed.
  Pipeline(Pipeline&&) noexcept;
  /// The pipeline that was moved from can only be assigned or destroyed.
  Pipeline& operator=(Pipeline&&) noexcept;

  /// No timeout.
  static constexpr auto kForever = std::chrono::nanoseconds::max();

  /// The next result, one per frame and model, sources in turn; or the reason why there is none: kEnd when all sources
  /// have ended, kLost with the name of one that failed (the others continue), kFailed with the name of the model that
  /// could not run on a frame (the frame is dropped), kTimeout, kCancelled after stop(), or once every sink was ended
  /// by an error. The result is valid until the next call. With sinks it must not be changed: they read it at the same
  /// time. The models start at the first call.
  Outcome<Result&> next(std::chrono::nanoseconds timeout = kForever);

  /// The pixels of the last result's frame, on the host: those that a GPU has decoded are copied at the first call.
  /// Valid until the next call, and as long as that result. Throws Error (kDevice) if the copy fails.
  const FrameView& frame() const;

  /// Ends current and later calls of next(); queued frames are counted as stopped. Any thread, but not a signal
  /// handler.
  void stop() noexcept;

  /// Stops the pipeline, waits until the sinks have written the results in their queues, and closes them, once. Those
  /// that need more than five seconds are closed after the others; one that blocks for ever, as a pipe that is not
  /// read, is waited for as long. Returns the final statistics, with the sinks' faults. Throws what ended the models'
  /// thread, if next() has not.
  Summary finish();

  /// The state of the sources and sinks, and what happened since the last call, or the start. Any thread.
  Telemetry telemetry();

  /// The statistics so far, with the undelivered frames once next() has returned kEnd or kCancelled. Any thread.
  Summary summary() const;

  class Iterator;
  /// The loop `for (auto& result : pipeline)` ends with the sources or stop() and throws Error on an unrecoverable
  /// failure.
  Iterator begin();
  /// The end of every loop.
  static std::default_sentinel_t end() { return {}; }

 private:
  friend struct ImplAccess;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// Single pass: a copy advances with its original.
class Pipeline::Iterator {
 public:
  /// For the standard library.
  using iterator_concept = std::input_iterator_tag;
  /// For the standard library.
  using value_type = Result;
  /// For the standard library.
  using difference_type = std::ptrdiff_t;

  /// Waits for the first result of PIPELINE, which outlives the iterator.
  explicit Iterator(Pipeline& pipeline) : pipeline_(&pipeline) { advance(); }

  /// The result, valid until the next increment.
  Result& operator*() const { return *result_; }
  /// The result, valid until the next increment.
  Result* operator->() const { return result_; }
  /// Waits for the next result.
  Iterator& operator++() {
    advance();
    return *this;
  }
  /// Waits for the next result.
  void operator++(int) { advance(); }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.result_ == nullptr; }

 private:
  void advance();

  Pipeline* pipeline_;
  Result* result_ = nullptr;
};

}  // namespace saccade
