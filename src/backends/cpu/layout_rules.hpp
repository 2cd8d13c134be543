#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// Which layout an operator's tensors should have here, as long as another tactic than the reference takes the node;
/// see Backend::layout_rule.
LayoutRule layout_rule(const NodeContext& context);

}  // namespace saccade::cpu
