#pragma once

#include <memory>

#include "passes/manager.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads a model file as OPTIONS bind its shapes. Throws Error naming the file.
Graph import_model(const std::string& path, const ModelOptions& options);

/// The backend that OPTIONS ask for. Throws Error (kUnsupported) for a device or a precision that is not built.
const Backend& choose_backend(const ModelOptions& options);

/// The passes to run, as OPTIONS switch them on and off, with BACKEND's wishes about memory layouts.
PassOptions pass_options(const ModelOptions& options, const Backend& backend);

/// A graph as it was imported (and built upon) brought into a plan: passes, then tactics. Throws Error.
std::shared_ptr<const Plan> compile(Graph graph, const ModelOptions& options);

}  // namespace saccade
