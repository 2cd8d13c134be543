#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "passes/core/pass.hpp"
#include "pipeline/model/open_model.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"
#include "vision/attach.hpp"

namespace saccade {

/// A model compiled for frames, and what its predictions mean.
struct VisionPlan {
  Card card;
  PostOptions options;
  std::vector<AnswerOutput> answers;
  std::shared_ptr<const Plan> plan;
};

/// What a plan of a model is fed with. Of raw tensors it is not known how pixels became numbers.
enum class PlanFor { kFrames, kTensors };

class Model::Impl {
 public:
  Impl(const std::string& path, const ModelOptions& options);

  /// What compile() is to prefer: a plan's choices.
  const TacticChoices& measured() const;
  /// Values that the precision does not narrow in a plan for that, of GRAPH as compile() is given it: a plan file's, or
  /// found out at the first call. Any thread. Of frames it throws Error where the model is not recognised.
  const ValueNames& stay_wide(PlanFor what, const Graph& graph);
  const std::string& name() const { return name_; }
  const Graph& graph() const { return graph_; }  ///< as it was imported
  const ModelOptions& options() const { return options_; }
  std::span<const TensorInfo> inputs() const { return inputs_; }
  std::span<const TensorInfo> outputs() const { return outputs_; }

  /// What is known about the model as one for frames. Throws Error where it is not recognised.
  const Card& card();
  /// Compiled at the first call; any thread. Throws Error naming the file.
  std::shared_ptr<const Plan> tensor_plan();
  const VisionPlan& vision_plan();

 private:
  // Under mutex_.
  void recognise();
  const ValueNames& find_stay_wide(PlanFor what, const Graph& graph);

  std::string path_;
  std::string name_;
  ModelOptions options_;
  Graph graph_;
  std::optional<PlanFacts> plan_;  // of a plan's file
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;

  std::mutex mutex_;
  std::shared_ptr<const Plan> tensor_plan_;
  std::optional<Card> card_;
  std::map<PlanFor, ValueNames> stay_wide_;
  std::unique_ptr<const VisionPlan> vision_plan_;
};

/// What runs PLAN, of the model of that NAME, which errors begin with. Throws Error.
Execution open_execution(const std::string& name, std::shared_ptr<const Plan> plan);

/// OPTIONS as the graph fragments after a model take them. Throws Error (kInvalidArgument) on a class that CARD lacks.
PostOptions post_options(const Card& card, const ModelOptions& options);

}  // namespace saccade
