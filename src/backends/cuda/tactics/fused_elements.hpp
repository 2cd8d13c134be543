#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Whether the node can be part of a saccade.Fused, or is one that this backend supports.
bool fuses_elements(const NodeContext& context);

}  // namespace saccade::cuda
