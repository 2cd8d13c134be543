#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace saccade {

class Places;

/// How a node is to be run.
struct TacticChoice {
  std::string tactic;         ///< by its name
  std::string configuration;  ///< one of Tactic::configurations(); empty: its first
  friend bool operator==(const TacticChoice&, const TacticChoice&) = default;
};

/// Choices by node_fingerprint(). Those that name a tactic which is not there, or does not support a node, are passed
/// over.
using TacticChoices = std::map<std::string, TacticChoice>;

/// What of a node decides which tactic is fastest, as 32 hexadecimal digits: operator, attributes, post-ops, and of its
/// tensors the types, shapes and layouts, which are constant, the elements of short constant integers, and how those
/// lie that PLACES has in the memory of others; null: each lies by itself, dense.
std::string node_fingerprint(const Graph& graph, const Node& node, const Places* places = nullptr);

}  // namespace saccade
