#pragma once

#include <map>
#include <string>

#include "base/memory_budget.hpp"
#include "onnx/upgrade/raw_graph.hpp"

namespace saccade {

/// Whether NODE's operator is one that Saccade runs, or is converted into one (an Upsample into a Resize). Operators of
/// the domain "saccade" are created by its own rewrites only: they rely on invariants that a file could violate.
bool is_known(const Node& node);

/// Converts every node to the newest operator set and infers all types on the way, since some rewrites depend on them.
/// CONTENTS are those of ImportOptions; values computed for shapes count against BUDGET. Throws Error naming the node.
Graph upgrade_graph(RawGraph raw, const std::map<std::string, Tensor>& contents, MemoryBudget& budget);

}  // namespace saccade
