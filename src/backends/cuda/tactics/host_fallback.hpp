#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Runs a node's reference kernel on the host, in the stream's order: its inputs are copied there and its outputs back.
/// Slow; only where the user allows it.
const Tactic& host_fallback();

}  // namespace saccade::cuda
