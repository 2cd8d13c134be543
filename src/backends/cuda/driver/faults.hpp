#pragma once

#include <string>
#include <vector>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// Where an execution's kernels say that an index was outside of its dimension, as they can't throw: words of 64 bits
/// in memory that the host sees, which hold the index. 0 is none: it is inside of every dimension.
class Faults {
 public:
  /// Words for NODE ("node 'x' (Gather)"), one for each of DIMS, the dimensions that it indexes; where they lie on the
  /// device. They live as long as this. Throws Error (kDevice).
  CUdeviceptr add(const std::string& node, const std::vector<std::int64_t>& dims);
  /// Throws Error (kInvalidArgument) for the first node with a fault, and forgets all. Only after a wait for the
  /// device.
  void check();
  /// Where another error is thrown: those of this run are not the next one's.
  void forget();

 private:
  struct Words {
    PinnedMemory memory;
    std::string node;
    std::vector<std::int64_t> dims;
  };
  std::vector<Words> words_;  // by launch, in their order
};

}  // namespace saccade::cuda
