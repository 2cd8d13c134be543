#pragma once

#include <memory>
#include <saccade/model.hpp>
#include <span>

#include "pipeline_view.hpp"
#include "server_flags.hpp"

namespace saccade::app {

/// Serves the metrics of a run to Prometheus (--metrics).
class MetricsEndpoint {
 public:
  /// Listens, unless FLAGS want no metrics. They include those of the pipeline that VIEW shows. Throws Error.
  MetricsEndpoint(const ServerFlags& flags, PipelineView& view);
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// From now on, the metrics include those of the GPUs that run MODELS on PipelineOptions::devices. Throws Error.
  void monitor(std::span<const Model> models, std::span<const Device> devices);

 private:
  struct State;
  std::unique_ptr<State> state_;  ///< null: no metrics
};

}  // namespace saccade::app
