#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "pipeline/model/decided_precision.hpp"
#include "pipeline/model/impl_access.hpp"
#include "pipeline/model/open_model.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"
#include "vision/attach.hpp"
#include "vision/batching/batch_images.hpp"

namespace saccade {

/// A model compiled for frames, and what its outputs hold.
struct VisionPlan {
  Card card;
  PredictionOutputs outputs;  ///< of an image
  std::shared_ptr<const Plan> plan;
  std::optional<Region> roi;    ///< in which tiles lie; CARD then has none
  std::optional<Graph> target;  ///< of a tracker: attach_target()
};

/// A model compiled for several images at once, on raw tensors.
struct TensorBatchPlan {
  std::shared_ptr<const Plan> plan;
  std::vector<std::optional<ImageAxis>> axes;  ///< of the images, by output; nullopt: it does not depend on the image
};

/// The input of a plan. The preprocessing of raw tensors is unknown.
enum class PlanFor { kFrames, kTensors };

class Model::Impl {
 public:
  Impl(const std::string& path, const ModelOptions& options);

  /// Tactic choices for compile(): those of a plan file.
  const TacticChoices& measured() const;
  /// Packed weights for compile(): those of a plan file; null for another, whose constants need no digests.
  PackedConstants* packed() { return plan_ ? &packed_ : nullptr; }
  /// Values of GRAPH, the input of compile(), that stay in float32: from the plan file, or computed at the first call.
  /// Any thread. For frames it throws Error if the model is not recognised.
  const Fp32KeepList& fp32_keep_list(PlanFor what, const Graph& graph);
  const std::string& name() const { return name_; }
  const Graph& graph() const { return graph_; }  ///< as it was imported
  const ModelOptions& options() const { return options_; }
  std::span<const TensorInfo> inputs() const { return inputs_; }
  std::span<const TensorInfo> outputs() const { return outputs_; }

  /// The model's card and post-processing for frames. Throws Error if it is not recognised.
  const Card& card();
  /// Makes CARD the model's, before the first call of card() or vision_plan(), in place of recognition.
  void use_card(Card card);
  /// Decides Precision::kAuto, before the first compilation.
  void use_precision(const DecidedPrecision& decided);
  /// The same model for DEVICE. Throws Error as Model::load() does.
  Model on(Device device);
  /// Whether there is a card. Throws Error if one was given or lies beside the model and can't be used.
  bool is_recognised();
  /// Compiled at the first call; any thread. Throws Error with the file's name.
  std::shared_ptr<const Plan> tensor_plan();
  /// The same for IMAGES at once. Throws Error (kUnsupported) if the model has several inputs, or can't be shown to
  /// keep images apart.
  const TensorBatchPlan& tensor_batch_plan(std::size_t images);
  /// The same for IMAGES frames at once. Throws Error (kUnsupported) if the model can't be shown to keep them apart.
  const VisionPlan& vision_plan(std::size_t images = 1);
  /// The model that the card runs on detected objects, loaded for this model's device at the first call; null if there
  /// is none. Valid as long as this one; any thread. Throws Error if it does not fit.
  const Model* second();

 private:
  // Guarded by mutex_.
  void recognise();
  const Fp32KeepList& find_keep_list(PlanFor what, const Graph& graph);
  std::shared_ptr<const Plan> compiled(Graph graph, const Fp32KeepList& keep_fp32);
  std::unique_ptr<const TensorBatchPlan> make_tensor_batch_plan(std::size_t images);
  std::unique_ptr<const VisionPlan> make_vision_plan(std::size_t images);

  std::string path_;
  std::string name_;
  ModelOptions options_;
  Graph graph_;
  std::optional<PlanFacts> plan_;  // from a plan file
  PackedConstants packed_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;

  std::mutex mutex_;
  std::shared_ptr<const Plan> tensor_plan_;
  std::map<std::size_t, std::unique_ptr<const TensorBatchPlan>> tensor_batch_plans_;  ///< by number of images
  std::optional<Card> card_;
  NodeNames keep_for_accuracy_;  // of use_precision()
  std::map<PlanFor, Fp32KeepList> keep_lists_;
  std::map<std::size_t, std::unique_ptr<const VisionPlan>> vision_plans_;  ///< by number of images
  std::optional<Model> second_;
};

/// Creates the execution of PLAN. Errors begin with the model's NAME. Throws Error.
Execution open_execution(const std::string& name, std::shared_ptr<const Plan> plan);

}  // namespace saccade
