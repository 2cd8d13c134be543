#pragma once

#include <memory>
#include <saccade/model.hpp>
#include <saccade/pipeline.hpp>
#include <span>

#include "server_flags.hpp"

namespace saccade::app {

/// Serves the metrics of a run to Prometheus (--metrics).
class MetricsEndpoint {
 public:
  /// Listens, unless FLAGS want no metrics. Throws Error.
  explicit MetricsEndpoint(const ServerFlags& flags);
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  /// As long as it exists, the metrics include those of a pipeline.
  class Shown {
   public:
    explicit Shown(MetricsEndpoint& endpoint) : endpoint_(endpoint) {}
    /// Waits for a reader.
    ~Shown() { endpoint_.hide(); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    MetricsEndpoint& endpoint_;
  };
  /// PIPELINE, which runs MODELS on PipelineOptions::devices, outlives the object that is returned. Throws Error.
  [[nodiscard]] Shown show(const Pipeline& pipeline, std::span<const Model> models, std::span<const Device> devices);

 private:
  struct State;
  void hide() noexcept;
  std::unique_ptr<State> state_;  ///< null: no metrics
};

}  // namespace saccade::app
