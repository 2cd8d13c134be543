#pragma once

#include <string>
#include <vector>

#include "cuda/driver/handles.hpp"

namespace saccade::cuda {

/// Out-of-range indices that an execution's kernels report, since kernels cannot throw. Each indexed dimension has one
/// 64-bit word of pinned memory, which receives the offending index. 0 means none: it is in range of every dimension.
class IndexReports {
 public:
  /// Words for NODE ("node 'x' (Gather)"), one per indexed dimension of DIMS; returns their device address. They live
  /// as long as this object. Throws Error (kDevice).
  CUdeviceptr add(const std::string& node, const std::vector<std::int64_t>& dims);
  /// Throws Error (kInvalidArgument) for the first node with a report and resets all. What a run reports that is still
  /// under way is found by a later call.
  void check();
  /// Discards the reports of a run that failed otherwise.
  void reset();

 private:
  struct Words {
    PinnedMemory memory;
    std::string node;
    std::vector<std::int64_t> dims;
  };
  std::vector<Words> words_;  // in launch order
};

}  // namespace saccade::cuda
