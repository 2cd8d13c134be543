#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saccade/model.hpp"
#include "serve/memory_regions.hpp"

namespace saccade::serve {

/// The inputs of a request that are in shared memory.
class RegionInputs {
 public:
  /// Input number INDEX, which is like INPUT, is in TENSOR. Throws Error (kInvalidArgument) if that has another size.
  void add(std::size_t index, TensorInfo input, RegionTensor tensor);
  /// Copies their elements, which must be valid, and has INPUTS point to the copies; false if REGIONS have no room for
  /// that now. Throws Error (kInvalidArgument).
  bool read(MemoryRegions& regions, std::span<InputBuffer> inputs);

 private:
  struct Input {
    std::size_t index = 0;
    TensorInfo info;
    RegionTensor tensor;
    std::unique_ptr<std::byte[]> elements;
  };
  std::vector<Input> inputs_;
  PendingBytes pending_;  ///< of the copies
};

}  // namespace saccade::serve
