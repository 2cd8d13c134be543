#pragma once

#include <string>

#include "graph/graph.hpp"

namespace saccade {

/// The graph in Graphviz's language: a box a node with its operator, post-ops, name and small attributes, ovals for
/// inputs and outputs, and on every edge the value's type. Constants stand in the boxes that read them, by their type.
std::string to_dot(const Graph& graph);

}  // namespace saccade
