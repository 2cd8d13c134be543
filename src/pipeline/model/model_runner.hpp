#pragma once

#include "pipeline/model/model_impl.hpp"
#include "pipeline/model/tiling.hpp"
#include "runtime/plan.hpp"
#include "tensor/frame.hpp"
#include "vision/result_reader.hpp"
#include "vision/tracking/result_tracker.hpp"

namespace saccade {

class ObjectRunner;

/// One model's execution in a pipeline, with its reused result. A second model on the objects is a part of it.
class ModelRunner {
 public:
  /// Compiles the model for frames if necessary. Throws Error.
  ModelRunner(const Model& model, int index);
  ~ModelRunner();
  ModelRunner(ModelRunner&&) noexcept;
  ModelRunner& operator=(ModelRunner&&) = delete;

  /// Starts the model on FRAME, whose pixels must stay valid until wait(). Throws Error if the frame is invalid for the
  /// model. Not for a model that runs on tiles.
  void submit(const FrameView& frame);
  /// FRAME's pixels where the model reads them: those on another device are copied to the host. Throws Error (kDevice).
  FrameView input_of(const Frame& frame) const;
  void wait() { execution_.wait(); }
  /// Fills result() with the predictions for FRAME after wait(), except for stream, source and the latencies outside of
  /// the model, which the pipeline sets. Runs the second model on the objects; FRAME's pixels must then still be
  /// valid. Warns about the first frame with an invalid result. Throws Error if the second model can't run on a crop.
  /// TRACKER, of make_tracker(), tracks the objects before that; null: they are not tracked.
  void read(const Frame& frame, ResultTracker* tracker = nullptr);
  /// submit(), wait() and read(), for each tile of a model that runs on tiles. Their latencies are added up.
  void run(const Frame& frame, ResultTracker* tracker = nullptr);
  /// For a stream of FRAME_RATE frames per second (0: unknown); null if the model does not track.
  std::unique_ptr<ResultTracker> make_tracker(double frame_rate) const;
  /// Runs the model on FRAME without a result. No effect on a tracker, which keeps a state between frames.
  void warm_up(const FrameView& frame);
  /// A tracker follows the object in BOX (corners, in pixels) from the next frame on. Throws Error if the model is
  /// none, or if the box is invalid.
  void follow(const std::array<float, 4>& box);
  Execution& execution() { return execution_; }
  const std::shared_ptr<const Plan>& plan() const { return vision_.plan; }
  Result& result() { return result_; }
  /// The most that a copy of a result takes, without masks, texts and what a second model predicts, whose number
  /// depends on the frame.
  std::size_t result_bytes() const;
  /// See Execution::frame_memory().
  FrameMemory& frame_memory() const { return execution_.frame_memory(); }
  /// Of the second model; null if there is none.
  ObjectRunner* objects() { return objects_.get(); }
  /// Whether a frame is several runs, on its tiles.
  bool is_tiled() const { return tiling_ != nullptr; }
  /// Number of runs for the last frame, and the pixels of the first of them.
  std::size_t runs() const { return runs_; }
  FrameView first_tile() const { return is_tiled() ? tiling_->tile(0) : *execution_.frame(); }
  /// Whether a frame's result depends on the frames before it.
  bool is_stateful() const { return vision_.card.task() == Task::kTrack; }
  /// See Execution::overlaps(); false for a model that runs on tiles.
  bool overlaps() const { return !is_tiled() && execution_.overlaps(); }
  /// See Execution::time_steps(). Of a frame's tiles, the last one is recorded.
  void time_steps(std::span<StepTime> times) { execution_.time_steps(times); }

 private:
  void run_tiles(const FrameView& frame);
  void read_tile(std::size_t i);
  void read_outputs(const FrameView& frame);
  void add_stage_times();
  void finish(const Frame& frame, ResultTracker* tracker);
  void warn() const;

  Model model_;
  const VisionPlan& vision_;
  Execution execution_;
  std::vector<TensorView> outputs_;
  ResultReader reader_;
  std::unique_ptr<Tiling> tiling_;  ///< null: the model runs on whole frames
  Result tile_;                     ///< predictions for a tile
  Result result_;
  std::unique_ptr<ObjectRunner> objects_;  ///< null: there is no second model
  std::size_t runs_ = 1;
  bool has_warned_ = false;
};

}  // namespace saccade
