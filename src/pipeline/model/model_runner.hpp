#pragma once

#include "pipeline/model/model_impl.hpp"
#include "runtime/plan.hpp"
#include "tensor/frame.hpp"
#include "vision/result_reader.hpp"

namespace saccade {

/// One model's execution in a pipeline, and the result that it fills again and again.
class ModelRunner {
 public:
  /// Compiles the model for frames if nobody did. Throws Error.
  ModelRunner(const Model& model, int index);

  /// Begins to run the model on FRAME, whose pixels stay until wait(). Throws Error where the frame's size or contents
  /// are invalid to the model.
  void submit(const FrameView& frame);
  void wait() { execution_.wait(); }
  /// Fills result() from what wait() waited for on FRAME, but for what only the pipeline knows: stream, source, and the
  /// times before and after the model.
  /// Warns of the first frame on which the model's numbers are wrong.
  void read(const Frame& frame);
  /// All three.
  void run(const Frame& frame) {
    submit(frame.view);
    wait();
    read(frame);
  }
  Execution& execution() { return execution_; }
  Result& result() { return result_; }
  /// See Execution::frame_memory().
  FrameMemory& frame_memory() const { return execution_.frame_memory(); }
  /// See Execution::overlaps().
  bool overlaps() const { return execution_.overlaps(); }
  /// See Execution::time_steps().
  void time_steps(std::span<StepTime> times) { execution_.time_steps(times); }

 private:
  void warn() const;

  Model model_;
  const VisionPlan& vision_;
  Execution execution_;
  std::vector<TensorView> outputs_;
  ResultReader reader_;
  Result result_;
  bool has_warned_ = false;
};

}  // namespace saccade
