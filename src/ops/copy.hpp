#pragma once

#include <algorithm>
#include <cstring>

#include "ops/op.hpp"

namespace saccade {

/// The reference kernel of operators that only rename dimensions: output 0 gets input 0's elements as they lie.
inline void copy_elements(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  if (from.dtype == DType::kString) {
    std::ranges::copy(std::span(static_cast<const std::string*>(from.data), static_cast<std::size_t>(from.elements())),
                      static_cast<std::string*>(to.data));
  } else if (to.bytes() != 0) {
    std::memcpy(to.data, from.data, to.bytes());
  }
}

}  // namespace saccade
