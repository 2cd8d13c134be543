#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// A dimension that is filled only in part: of input or output number TENSOR along AXIS, as far as COUNT, one int64,
/// says.
struct SizedAxis {
  std::size_t tensor = 0;
  int axis = 0;
  ValueId count = ValueId::kNone;
};

/// How a node is run on tensors whose sizes only the run knows.
struct SizedForm {
  std::vector<SizedAxis> given;    ///< of the inputs
  std::vector<SizedAxis> made;     ///< of the outputs
  std::vector<TensorType> room;    ///< of the outputs: as much as there can be
  ValueId guard = ValueId::kNone;  ///< a bool; where it is false nothing runs, and the outputs are empty or zero
};

/// INNER as a saccade.Sized, which runs it on the filled parts alone. Its inputs are INNER's, the given counts and the
/// guard; its outputs INNER's and the counts that it makes.
Node sized_node(Node inner, const SizedForm& form);

}  // namespace saccade
