#pragma once

#include <mutex>
#include <optional>
#include <saccade/pipeline.hpp>

namespace saccade::app {

/// The summary of a pipeline, for servers that are there before it. Any thread.
class PipelineView {
 public:
  /// As long as it exists, a pipeline is shown.
  class Shown {
   public:
    explicit Shown(PipelineView& view) : view_(view) {}
    /// Waits for a reader.
    ~Shown() { view_.set(nullptr); }
    Shown(const Shown&) = delete;
    Shown& operator=(const Shown&) = delete;

   private:
    PipelineView& view_;
  };
  /// PIPELINE outlives the object that is returned.
  [[nodiscard]] Shown show(const Pipeline& pipeline) {
    set(&pipeline);
    return Shown(*this);
  }

  /// Nothing while no pipeline is shown.
  std::optional<Summary> summary() {
    const std::scoped_lock lock(mutex_);
    return pipeline_ == nullptr ? std::nullopt : std::optional(pipeline_->summary());
  }

 private:
  void set(const Pipeline* pipeline) {
    const std::scoped_lock lock(mutex_);
    pipeline_ = pipeline;
  }

  std::mutex mutex_;
  const Pipeline* pipeline_ = nullptr;
};

}  // namespace saccade::app
