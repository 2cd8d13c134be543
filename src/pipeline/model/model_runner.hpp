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
  /// Compiles the model for frames if necessary: for one, and for each number of images in BATCHES, ascending. Throws
  /// Error.
  ModelRunner(const Model& model, int index, std::span<const std::size_t> batches = {});
  ~ModelRunner();
  ModelRunner(ModelRunner&&) noexcept;
  ModelRunner& operator=(ModelRunner&&) = delete;

  /// Sets the frames of the next run, as many as the largest batch at most: it runs on the smallest plan for as many.
  /// Returns its execution. Not for a model that runs on tiles.
  Execution& choose(std::span<const FrameView> frames);
  /// Starts the model on FRAMES, whose pixels must stay valid until wait(). Throws Error if a frame is invalid for the
  /// model. Not for a model that runs on tiles.
  void submit(std::span<const FrameView> frames) { choose(frames).submit(); }
  /// FRAME's pixels where the model reads them: those on another device are copied to the host. Throws Error (kDevice).
  FrameView input_of(const Frame& frame) const;
  void wait() {
    submitted().wait();
    show();
  }
  /// The run of the last choose() is complete: read() gets its results, also while the next one is under way. For runs
  /// that were started and waited for through its execution.
  void show() { shown_ = submitted_; }
  /// Fills result() with the predictions for FRAME, number PLACE of the last submit(), after wait(), except for stream,
  /// source and the latencies outside of the model, which the pipeline sets. Runs the second model on the objects;
  /// FRAME's pixels must then still be valid. Warns about the first frame with an invalid result. Throws Error if the
  /// second model can't run on a crop. TRACKER, of make_tracker(), tracks the objects before that; null: they are not
  /// tracked.
  void read(std::size_t place, const Frame& frame, ResultTracker* tracker = nullptr);
  /// submit(), wait() and read() for one frame, for each tile of a model that runs on tiles. Their latencies are added
  /// up.
  void run(const Frame& frame, ResultTracker* tracker = nullptr);
  /// For a stream of FRAME_RATE frames per second (0: unknown); null if the model does not track.
  std::unique_ptr<ResultTracker> make_tracker(double frame_rate) const;
  /// Runs the model on FRAME without a result. No effect on a tracker, which keeps a state between frames.
  void warm_up(const FrameView& frame);
  /// A tracker follows the object in BOX (corners, in pixels) from the next frame on. Throws Error if the model is
  /// none, or if the box is invalid.
  void follow(const std::array<float, 4>& box);
  Execution& execution() { return execution_; }  ///< for one image
  /// The execution for so many IMAGES, 1 or one of the constructor's.
  Execution& execution_for(std::size_t images);
  const std::shared_ptr<const Plan>& plan() const { return vision_.plan; }
  /// The plans for batches.
  std::vector<std::shared_ptr<const Plan>> batch_plans() const;
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
  /// The model for several images at once.
  struct Batch {
    std::size_t images = 0;
    std::shared_ptr<const Plan> plan;
    Execution execution;
  };

  Execution& execution_of(std::optional<std::size_t> batch) { return batch ? batches_[*batch].execution : execution_; }
  Execution& submitted() { return execution_of(submitted_); }
  Execution& shown() { return execution_of(shown_); }
  void run_tiles(const FrameView& frame);
  void read_tile(std::size_t i);
  void read_outputs(std::size_t place, const FrameView& frame);
  void add_stage_times();
  void finish(const Frame& frame, ResultTracker* tracker);
  void warn() const;

  Model model_;
  const VisionPlan& vision_;
  Execution execution_;
  std::vector<Batch> batches_;  ///< by number of images
  // Indices of batches; nothing: the plan for one image.
  std::optional<std::size_t> submitted_;
  std::optional<std::size_t> shown_;
  std::vector<TensorView> outputs_;  ///< of an image
  ResultReader reader_;
  std::unique_ptr<Tiling> tiling_;  ///< null: the model runs on whole frames
  Result tile_;                     ///< predictions for a tile
  Result result_;
  std::unique_ptr<ObjectRunner> objects_;  ///< null: there is no second model
  std::size_t runs_ = 1;
  bool has_warned_ = false;
};

}  // namespace saccade
