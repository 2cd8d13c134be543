#pragma once

#include <functional>

#include "runtime/tactic.hpp"
#include "saccade/error.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// The backend of OPTIONS; for Device::Kind::kAuto, where no model was loaded, the CPU's. Throws Error
/// (kInvalidArgument, kUnsupported) for invalid threads or a precision that the device does not support, and (kDevice,
/// kNotFound) if the device cannot be used.
const Backend& choose_backend(const ModelOptions& options);

/// Throws Error as choose_backend() and choose_device() do, as far as the model does not matter.
void check_device(const ModelOptions& options);

/// The device of OPTIONS; for Device::Kind::kAuto the first GPU if it can be used and supports all of GRAPH, which is
/// called only if it can, else the CPU. The log says which and why, with the model's NAME: a warning if there is a GPU.
/// Throws Error (kUnsupported) with the reason if the precision needs a GPU.
Device choose_device(const std::string& name, const ModelOptions& options, const std::function<const Graph&()>& graph);

/// The message of ERROR, about nodes that a GPU does not support, with the remedy.
std::string suggest_fallback(const Error& error);

}  // namespace saccade
