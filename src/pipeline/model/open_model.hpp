#pragma once

#include <optional>

#include "passes/core/pass.hpp"
#include "runtime/plan_file.hpp"
#include "saccade/model.hpp"
#include "vision/card.hpp"

namespace saccade {

/// A model as its file holds it.
struct OpenedModel {
  Graph graph;
  ModelOptions options;           ///< those given; what they leave open is as a plan was compiled
  std::optional<PlanFacts> plan;  ///< of a plan's file; of what was found out only what serves this device and OPTIONS
};

/// Reads an ONNX file or a plan, whose kernels the device is handed. A plan of another device is read as a model, with
/// a word in the log. Throws Error naming the file: also (kInvalidArgument) where OPTIONS want a plan otherwise than it
/// was compiled.
OpenedModel open_model(const std::string& path, const ModelOptions& options);

/// The card of the model at PATH: card_for()'s, and of a plan the one that it holds where none is given or lies beside.
Card card_of(const Graph& graph, const std::optional<PlanFacts>& plan, const std::string& path,
             const std::string& given);

/// The values that the precision of OPTIONS does not narrow in GRAPH, which takes frames as CARD says (null: the raw
/// tensors of the model alone) and is as compile() is given it: what PLAN says of just that, else stays_wide()'s.
/// Throws as that does.
ValueNames wide_values(const Graph& graph, const Card* card, const ModelOptions& options,
                       const std::optional<PlanFacts>& plan);

/// OPTIONS with the device of the plan at PATH where they leave it open; an ONNX file leaves it so.
ModelOptions with_device_of(const std::string& path, ModelOptions options);

}  // namespace saccade
