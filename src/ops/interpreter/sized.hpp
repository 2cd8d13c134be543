#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// A partly valid dimension: AXIS of input or output TENSOR, with COUNT, one int64, valid elements.
struct SizedAxis {
  std::size_t tensor = 0;
  int axis = 0;
  ValueId count = ValueId::kNone;
};

/// How a node runs on tensors whose sizes are known only at run time.
struct SizedForm {
  std::vector<SizedAxis> given;      ///< of the inputs
  std::vector<SizedAxis> made;       ///< of the outputs
  std::vector<TensorType> capacity;  ///< of the outputs, at full size
  ValueId guard = ValueId::kNone;    ///< a bool; if it is false nothing runs, and the outputs are empty or zero
};

/// INNER as a saccade.Sized, which runs it on the valid parts alone. Its inputs are INNER's, the given counts and the
/// guard; its outputs are INNER's and the counts that it computes.
Node sized_node(Node inner, const SizedForm& form);

}  // namespace saccade
