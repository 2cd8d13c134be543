#pragma once

#include "pipeline/model_impl.hpp"
#include "runtime/plan.hpp"
#include "tensor/frame.hpp"
#include "vision/result_reader.hpp"

namespace saccade {

/// One model's execution in a pipeline, and the result that it fills again and again.
class ModelRunner {
 public:
  /// Compiles the model for frames if nobody did. Throws Error.
  ModelRunner(const Model& model, int index);

  /// Runs the model on FRAME and fills result() but for what only the pipeline knows: stream, source, and the times
  /// before and after the model. Throws Error where the frame's size or contents make no sense to the model.
  void run(const Frame& frame);
  Result& result() { return result_; }
  /// See Execution::time_steps().
  void time_steps(std::span<StepTime> times) { execution_.time_steps(times); }

 private:
  Model model_;
  const VisionPlan& vision_;
  Execution execution_;
  std::vector<TensorView> outputs_;
  ResultReader reader_;
  Result result_;
};

}  // namespace saccade
