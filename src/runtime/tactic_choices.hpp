#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace saccade {

class StorageAliasing;

/// How to run a node.
struct TacticChoice {
  std::string tactic;         ///< by its name
  std::string configuration;  ///< one of Tactic::configurations(); empty: its first
  friend bool operator==(const TacticChoice&, const TacticChoice&) = default;
};

/// Choices by node_fingerprint(). A choice whose tactic does not exist or does not support the node is ignored.
using TacticChoices = std::map<std::string, TacticChoice>;

/// The key of a node class, as 32 hexadecimal digits: operator, attributes, post-ops, types, shapes, layouts, which
/// operands are constant, the elements of short integer constants, and offset alignment and strides of the operands
/// that STORAGE aliases (null: none).
std::string node_fingerprint(const Graph& graph, const Node& node, const StorageAliasing* storage = nullptr);

}  // namespace saccade
