#pragma once

#include "pipeline/model/model_runner.hpp"

namespace saccade {

/// The models of a pipeline. A device that works asynchronously starts early, with several models as branches of one
/// graph; otherwise, and if a model runs on tiles, each model runs on demand.
class ModelSet {
 public:
  /// Compiles the models. Throws Error.
  explicit ModelSet(const std::vector<Model>& models);

  std::size_t size() const { return runners_.size(); }
  ModelRunner& operator[](std::size_t i) { return runners_[i]; }
  /// The preferred memory of frames; valid as long as the process.
  FrameMemory& frame_memory() const;
  /// Whether begin() has an effect.
  bool overlaps() const { return group_ != nullptr || (size() == 1 && runners_[0].overlaps()); }

  /// Starts all models on FRAME, whose pixels must stay valid until wait(). No other run may be in flight. If a model
  /// rejects the frame, nothing starts and run() reports it.
  void begin(const FrameView& frame);
  /// Waits for the started models; run() then refers to their frame and reports failures.
  void wait();
  /// Whether the models have run on the frame of the last wait().
  bool is_ready() const { return ready_; }
  /// Fills the result of the model with the index I for FRAME. Throws Error if the frame is invalid for the model.
  void run(std::size_t i, const Frame& frame);

 private:
  std::vector<ModelRunner> runners_;
  std::unique_ptr<RunGroup> group_;  // null: one model, or models that run one after the other
  bool under_way_ = false;
  bool ready_ = false;
};

}  // namespace saccade
