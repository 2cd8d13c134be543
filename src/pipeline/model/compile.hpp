#pragma once

#include <memory>
#include <optional>

#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads a model file with the shapes of OPTIONS. Throws Error with the file's name.
Graph import_model(const std::string& path, const ModelOptions& options);

/// The backend of OPTIONS. Throws Error (kUnsupported) for an unsupported device or precision.
const Backend& choose_backend(const ModelOptions& options);

/// The index of the GPU of OPTIONS; nullopt for another device. Throws Error (kInvalidArgument).
std::optional<int> gpu_of(const ModelOptions& options);

/// The passes selected by OPTIONS, with the layout rules of BACKEND.
PassOptions pass_options(const ModelOptions& options, const Backend& backend);

/// The types of a plan's inputs and outputs.
enum class Edges : std::uint8_t {
  kAsModel,     ///< the types of the model file
  kAsComputed,  ///< half precision where the precision narrows float32, so that nothing is converted
};

/// MEASURED, plus cached choices of this machine for other nodes.
TacticChoices choices_for(const Backend& backend, const TacticChoices& measured);

/// Compiles an imported graph, with or without pre- and post-processing, into a plan: passes, then tactics by
/// choices_for(). STAY_WIDE is the result of stays_wide(); null: it is computed. Throws Error.
std::shared_ptr<const Plan> compile(Graph graph, const ModelOptions& options, const TacticChoices& measured = {},
                                    Edges edges = Edges::kAsModel, const ValueNames* stay_wide = nullptr);

/// Whether OPTIONS disable passes, which changes the names of values.
bool leaves_passes_out(const ModelOptions& options);

/// The values of GRAPH that must stay in float32 under OPTIONS: values_past_halves() for fp16, else none.
ValueNames stays_wide(const Graph& graph, const ModelOptions& options);

}  // namespace saccade
