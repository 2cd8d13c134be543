#pragma once

#include <memory>
#include <optional>

#include "passes/core/manager.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads a model file as OPTIONS bind its shapes. Throws Error naming the file.
Graph import_model(const std::string& path, const ModelOptions& options);

/// The backend that OPTIONS ask for. Throws Error (kUnsupported) for a device or a precision that is not built.
const Backend& choose_backend(const ModelOptions& options);

/// The number of the GPU that OPTIONS ask for; nothing: they ask for none. Throws Error (kInvalidArgument).
std::optional<int> gpu_of(const ModelOptions& options);

/// The passes to run, as OPTIONS switch them on and off, with BACKEND's wishes about memory layouts.
PassOptions pass_options(const ModelOptions& options, const Backend& backend);

/// What a plan's inputs and outputs are.
enum class Edges : std::uint8_t {
  kAsModel,     ///< of the types that the model's file says
  kAsComputed,  ///< float32 that the precision narrows is taken and given in halves, so that nothing converts it
};

/// MEASURED, and for other nodes what was found to be fastest before on this machine.
TacticChoices choices_for(const Backend& backend, const TacticChoices& measured);

/// A graph as it was imported (and built upon) brought into a plan: passes, then tactics, by choices_for(). STAY_WIDE
/// as of stays_wide(); null: it is found out. Throws Error.
std::shared_ptr<const Plan> compile(Graph graph, const ModelOptions& options, const TacticChoices& measured = {},
                                    Edges edges = Edges::kAsModel, const ValueNames* stay_wide = nullptr);

/// Whether OPTIONS leave passes out: what others rewrite has other names then.
bool leaves_passes_out(const ModelOptions& options);

/// The values of GRAPH that are not to be narrowed to what OPTIONS compute in: values_past_halves() for fp16, else
/// none.
ValueNames stays_wide(const Graph& graph, const ModelOptions& options);

}  // namespace saccade
