#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Runs a node's reference kernel on the host in stream order, copying its inputs there and its outputs back. Slow;
/// only if the user allows it.
const Tactic& host_fallback();

}  // namespace saccade::cuda
