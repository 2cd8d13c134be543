#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// A model as stored in the file, with functions inlined and Constant nodes as constants. Nodes have the form of their
/// own operator set; only inputs and constants have types.
struct RawGraph {
  Graph graph;
  std::vector<std::int64_t> versions;  ///< by NodeId: the operator set version of the node's domain
  std::string shape_hint;              ///< appended to errors about shapes; may be empty

  /// The sub-graphs of every If (then, else) and Loop (its body). The values that a sub-graph uses of the enclosing
  /// graph are appended to its inputs and to the node's inputs, so that every graph is closed.
  std::map<NodeId, std::vector<RawGraph>> bodies;
  std::vector<ValueId> captures;  ///< of a sub-graph: the outer values of its last inputs
};

}  // namespace saccade
