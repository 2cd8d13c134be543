#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Where a value lies: by itself, or in another's memory, as a slice or a part of a concatenation does.
struct Place {
  ValueId root = ValueId::kNone;  ///< whose memory it is: another value's, else its own
  std::int64_t offset = 0;        ///< of its first element from ROOT's, in elements
  Shape strides;                  ///< in elements, one a dimension; along a dimension of one element anything
};

}  // namespace saccade
