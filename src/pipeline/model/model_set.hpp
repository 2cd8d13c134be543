#pragma once

#include "pipeline/model/model_runner.hpp"

namespace saccade {

/// A pipeline's models, which see one frame after the other. What a device can run beside the caller begins before it
/// is asked for, several models as branches of one piece of work; elsewhere each model runs when it is asked for.
class ModelSet {
 public:
  /// Compiles the models. Throws Error.
  explicit ModelSet(const std::vector<Model>& models);

  std::size_t size() const { return runners_.size(); }
  ModelRunner& operator[](std::size_t i) { return runners_[i]; }
  /// Where they read frames best; lives as long as the process.
  FrameMemory& frame_memory() const;
  /// Whether begin() begins anything.
  bool overlaps() const { return group_ != nullptr || (size() == 1 && runners_[0].overlaps()); }

  /// Begins to run all models on FRAME, whose pixels stay until wait(). Nothing else may be under way. Where a model
  /// can't take the frame, nothing begins, and run() says so.
  void begin(const FrameView& frame);
  /// Returns when what began is done; from then on run() is about its frame. Where a model failed on it, run() says so.
  void wait();
  /// Whether the models have run on the frame of the last wait().
  bool is_ready() const { return ready_; }
  /// Fills the result of model number I on FRAME. Throws Error where the frame is invalid to the model.
  void run(std::size_t i, const Frame& frame);

 private:
  std::vector<ModelRunner> runners_;
  std::unique_ptr<RunGroup> group_;  // null: one model, or models that run one after the other
  bool under_way_ = false;
  bool ready_ = false;
};

}  // namespace saccade
