#pragma once

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// Which layout a node's tensors should have here; see Backend::layout_rule.
LayoutRule layout_rule(const NodeContext& context);

}  // namespace saccade::cpu
