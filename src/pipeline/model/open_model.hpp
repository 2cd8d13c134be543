#pragma once

#include <optional>

#include "graph/fp32_keep_list.hpp"
#include "runtime/plan_file.hpp"
#include "saccade/model.hpp"
#include "vision/cards/card.hpp"

namespace saccade {

/// The contents of a model file.
struct OpenedModel {
  Graph graph;
  ModelOptions options;           ///< the given options, completed by those of the plan; never Device::Kind::kAuto
  std::optional<PlanFacts> plan;  ///< from a plan file, reduced to what is valid for this device and OPTIONS
  std::shared_ptr<const MappedFile> file = nullptr;  ///< of the plan: it has the elements of constants
};

/// Reads an ONNX file or a plan and passes the plan's kernels to the device. A plan for another device is read as a
/// model, with a log message. Throws Error with the file's name, (kInvalidArgument) if OPTIONS contradict the plan.
OpenedModel open_model(const std::string& path, const ModelOptions& options);

/// The card of the model at PATH from card_for(); for a plan without an explicit card, the one that it contains.
Card card_of(const Graph& graph, const std::optional<PlanFacts>& plan, const std::string& path,
             const std::string& given);

/// What stays in float32 in GRAPH, the input of compile(), for frames with CARD (null: raw tensors): the values of PLAN
/// if they apply, else those of find_fp32_keep_list(); and the products that PLAN keeps for accuracy. Throws like it.
Fp32KeepList resolve_fp32_keep_list(const Graph& graph, const Card* card, const ModelOptions& options,
                                    const std::optional<PlanFacts>& plan);

/// Throws Error, without reading all of the file at PATH, if the device of OPTIONS, or of the plan, cannot be used.
void check_device_of(const std::string& path, const ModelOptions& options);

/// OPTIONS with the device that open_model() would choose for the model at PATH. It reads an ONNX file only if a GPU
/// can be used.
ModelOptions with_device_of(const std::string& path, ModelOptions options);

}  // namespace saccade
