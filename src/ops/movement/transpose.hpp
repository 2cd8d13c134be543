#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// The attribute perm of a Transpose of RANK dimensions: its output's dimension i is its input's dimension [i].
/// Reversed dimensions where it is missing; throws Error where it is no permutation.
Shape transpose_order(const Attributes& attributes, int rank);

}  // namespace saccade
