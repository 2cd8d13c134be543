#pragma once

#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/model/model_runner.hpp"

namespace saccade {

/// Whether MODEL runs once a frame, independently of the frames before. Throws Error if it is not recognised.
bool takes_batches(const Model& model);

/// 1, 2, 4, 8 ... and MOST: the numbers of images for which plans are made.
std::vector<std::size_t> batch_sizes_up_to(std::size_t most);

/// The models of a pipeline. A device that works asynchronously starts early, with several models as branches of one
/// graph; otherwise, and if a model runs on tiles, each model runs on demand.
class ModelSet {
 public:
  /// Compiles the models for one frame, and for 2, 4, 8 ... up to BATCH frames at once. Throws Error.
  explicit ModelSet(const std::vector<Model>& models, std::size_t batch = 1);

  std::size_t size() const { return runners_.size(); }
  ModelRunner& operator[](std::size_t i) { return runners_[i]; }
  /// The most frames of a run.
  std::size_t batch() const { return sizes_.back(); }
  /// The numbers of frames for which there are plans, ascending.
  std::span<const std::size_t> batch_sizes() const { return sizes_; }
  /// The preferred memory of frames; valid as long as the process.
  FrameMemory& frame_memory() const;
  /// Whether begin() has an effect.
  bool overlaps() const { return !groups_.empty() || (size() == 1 && runners_[0].overlaps()); }

  /// Runs every model on black frames of WIDTH x HEIGHT pixels, so that the first real ones are as fast as the others.
  /// Not for models that keep a state between frames.
  void warm_up(int width, int height);

  /// Why a model could not run on a frame: what it has thrown, an Error or another exception.
  struct Fault {
    std::size_t model = 0;  ///< its index; those before could
    std::string message;    ///< with the model's name
  };
  /// Starts all models on FRAMES, batch() at most, whose pixels must stay valid until wait(). No other run may be in
  /// flight. Returns why nothing has started; nothing if all have, or if models run on demand.
  std::optional<Fault> begin(std::span<const Frame* const> frames);
  /// Waits for the models that begin() has started. Returns which failed.
  std::optional<Fault> wait();
  /// Runs the model with the index I on FRAMES now, unless it was started before the last wait(); no other run may then
  /// be in flight. Returns why it could not.
  std::optional<Fault> run(std::size_t i, std::span<const Frame* const> frames);
  /// Fills the result of the model with the index I for FRAME, number PLACE of the frames of the last run(). TRACKER as
  /// in ModelRunner::read(). Returns why there is no result.
  std::optional<Fault> read(std::size_t i, std::size_t place, const Frame& frame, ResultTracker* tracker = nullptr);
  /// The models of the last wait() run on demand instead.
  void discard() { ready_ = false; }

 private:
  Fault fault(std::size_t model, const std::exception& error);
  void make_groups();
  /// The pixels of FRAMES where the model with the index I reads them; valid until the next call.
  std::span<const FrameView> inputs_of(std::size_t i, std::span<const Frame* const> frames);

  std::vector<std::size_t> sizes_;  ///< of batches, from 1 on
  std::vector<ModelRunner> runners_;
  std::vector<FrameView> inputs_;
  std::map<std::size_t, std::unique_ptr<RunGroup>> groups_;  ///< by size; empty: one model, or one after the other
  RunGroup* group_ = nullptr;                                ///< that is under way; null: none
  bool under_way_ = false;
  bool ready_ = false;  ///< the models were started before the last wait()
};

}  // namespace saccade
