#pragma once

#include "runtime/tactic.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// The backend of OPTIONS; for Device::Kind::kAuto, where no model was loaded, the CPU's. Throws Error
/// (kInvalidArgument, kUnsupported) for invalid threads or a precision that the device does not support, and (kDevice,
/// kNotFound) if the device cannot be used.
const Backend& choose_backend(const ModelOptions& options);

}  // namespace saccade
