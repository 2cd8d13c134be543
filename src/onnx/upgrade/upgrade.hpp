#pragma once

#include <map>
#include <string>

#include "base/memory_budget.hpp"
#include "onnx/upgrade/raw_graph.hpp"

namespace saccade {

/// Whether NODE's operator is one that Saccade runs, or becomes one in the newest form (an Upsample a Resize). Those of
/// the domain "saccade" are what its own rewrites make, and no file's: they take on trust what the rewrites see to.
bool is_known(const Node& node);

/// Brings every node to the form of the newest operator set, and infers all types on the way: what some rewrites are
/// depends on them. CONTENTS are ImportOptions'; what is worked out for shapes counts against BUDGET. Throws Error
/// naming the node.
Graph upgrade_graph(RawGraph raw, const std::map<std::string, Tensor>& contents, MemoryBudget& budget);

}  // namespace saccade
