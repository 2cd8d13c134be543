#pragma once

#include <optional>

#include "runtime/tactic.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// The backend of OPTIONS. Throws Error (kUnsupported) for an unsupported device or precision.
const Backend& choose_backend(const ModelOptions& options);

/// The index of the GPU of OPTIONS; nullopt for another device. Throws Error (kInvalidArgument).
std::optional<int> gpu_of(const ModelOptions& options);

}  // namespace saccade
