#pragma once

#include <optional>
#include <string>

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

  /// Runs every model on a black frame of WIDTH x HEIGHT pixels, so that the first real one is as fast as the others.
  /// Not for models that keep a state between frames.
  void warm_up(int width, int height);

  /// Why a model could not run on a frame.
  struct Fault {
    std::size_t model = 0;  ///< its index; those before could
    std::string message;    ///< with the model's name
  };
  /// Starts all models on FRAME, whose pixels must stay valid until wait(). No other run may be in flight. Returns why
  /// nothing has started; nothing if all have, or if models run on demand.
  std::optional<Fault> begin(const FrameView& frame);
  /// The same for the pixels of FRAME, wherever they are.
  std::optional<Fault> begin(const Frame& frame);
  /// Waits for the models that begin() has started. Returns which failed.
  std::optional<Fault> wait();
  /// Fills the result of the model with the index I for FRAME, that of the last begin(), after wait(). Runs the model
  /// now if it was not started; no other run may then be in flight. TRACKER as in ModelRunner::read(). Returns why
  /// there is no result.
  std::optional<Fault> run(std::size_t i, const Frame& frame, ResultTracker* tracker = nullptr);

 private:
  Fault fault(std::size_t model, const Error& error);

  std::vector<ModelRunner> runners_;
  std::unique_ptr<RunGroup> group_;  // null: one model, or models that run one after the other
  bool under_way_ = false;
  bool ready_ = false;  ///< the models were started before the last wait()
};

}  // namespace saccade
