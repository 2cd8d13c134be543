#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// A model as its file has it, functions inlined and Constant nodes turned into constants: nodes still have the form of
/// the operator set that they were written for, and only inputs and constants have types.
struct RawGraph {
  Graph graph;
  std::vector<std::int64_t> versions;  ///< of the operator set of each node's domain, by NodeId
  std::string shape_hint;              ///< what to add to an error about shapes; may be empty

  /// The sub-graphs of every If (then, else) and Loop (its body). What a sub-graph uses of the graph around it is among
  /// its inputs, behind its own, and among the node's inputs likewise, so that every graph is closed.
  std::map<NodeId, std::vector<RawGraph>> bodies;
  std::vector<ValueId> captures;  ///< of a sub-graph: what its last inputs are in the graph around it
};

}  // namespace saccade
