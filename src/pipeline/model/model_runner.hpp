#pragma once

#include "pipeline/model/model_impl.hpp"
#include "runtime/plan.hpp"
#include "tensor/frame.hpp"
#include "vision/result_reader.hpp"

namespace saccade {

/// One model's execution in a pipeline, with its reused result.
class ModelRunner {
 public:
  /// Compiles the model for frames if necessary. Throws Error.
  ModelRunner(const Model& model, int index);

  /// Starts the model on FRAME, whose pixels must stay valid until wait(). Throws Error if the frame is invalid for the
  /// model.
  void submit(const FrameView& frame);
  void wait() { execution_.wait(); }
  /// Fills result() with the predictions for FRAME after wait(), except for stream, source and the latencies outside of
  /// the model, which the pipeline sets. Warns about the first frame with an invalid result.
  void read(const Frame& frame);
  /// begin(), wait() and read().
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
