#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/stream/batch_choice.hpp"
#include "pipeline/stream/capacities.hpp"
#include "pipeline/stream/executor.hpp"

namespace saccade {

/// The models on one device, and the thread that runs them on the frames of some streams.
struct DeviceWorker {
  /// Compiles MODELS. STREAMS are indices in SOURCES. Throws Error.
  DeviceWorker(std::optional<Device> device, std::vector<std::size_t> streams, std::span<const Source> sources,
               const std::vector<Model>& models, const PipelineOptions& options);

  /// Runs the models once for each size of live sources, which do not wait for a slow first frame.
  void warm_up(std::span<const Source> sources);
  /// Makes the queue and the executor, which does not start. RUNS outlive it.
  void prepare(std::span<const Source> sources, const Capacities& capacities, FrameRunPool& runs,
               const PipelineOptions& options, Clock::time_point deadline, Executor::Hooks hooks);

  std::optional<Device> device;      ///< PipelineOptions::devices; nothing: where the models were loaded
  std::vector<std::size_t> streams;  ///< that it processes, by lane of its queue
  BatchChoice batch;
  ModelSet models;
  std::unique_ptr<BoundedQueue<Frame>> queue;
  std::unique_ptr<FrameBatcher> frames;
  std::unique_ptr<Executor> executor;
};

using DeviceWorkers = std::vector<std::unique_ptr<DeviceWorker>>;

/// One for each device of OPTIONS that gets a stream, at least one. SOURCES are dealt out by their rates. Throws Error.
DeviceWorkers make_workers(std::span<const Source> sources, const std::vector<Model>& models,
                           const PipelineOptions& options);

/// The period of a live source's frames that OPTIONS select; 0: unknown, or it is not live.
std::chrono::nanoseconds live_period(const SourceInfo& source, const PipelineOptions& options);

}  // namespace saccade
