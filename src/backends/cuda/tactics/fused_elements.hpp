#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cuda {

/// Whether the node can be part of a saccade.Fused, or is one that a kernel can be written for.
bool fuses_elements(const NodeContext& context);

}  // namespace saccade::cuda
