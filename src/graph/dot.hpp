#pragma once

#include <string>

#include "graph/graph.hpp"

namespace saccade {

/// The graph in Graphviz's DOT language: a box per node with its operator, post-ops, name and small attributes, ovals
/// for inputs and outputs, edges labelled with the value's type. Constants are listed in the boxes that read them, by
/// type.
std::string to_dot(const Graph& graph);

}  // namespace saccade
