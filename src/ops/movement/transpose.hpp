#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// The attribute perm of a Transpose of RANK dimensions: dimension i of the output is dimension perm[i] of the input.
/// Reversed if it is missing; throws Error if it is not a permutation.
Shape transpose_order(const Attributes& attributes, int rank);

}  // namespace saccade
