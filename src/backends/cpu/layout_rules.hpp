#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// The preferred layout of an operator's tensors, if a tactic other than the reference supports the node; see
/// Target::layout_rule.
LayoutRule layout_rule(const NodeContext& context);

}  // namespace saccade::cpu
