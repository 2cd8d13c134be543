#pragma once

#include "graph/graph.hpp"

namespace saccade {

/// Which elements of a storage a value consists of: all of its own, or a strided view of another value's.
struct StorageView {
  ValueId root = ValueId::kNone;  ///< the value that owns the storage
  std::int64_t offset = 0;        ///< of the first element within ROOT's storage, in elements
  Shape strides;                  ///< in elements, per dimension; arbitrary for dimensions of size 1
};

}  // namespace saccade
