#pragma once

#include "op_case/op_case.hpp"

namespace saccade {

/// InstanceNormalization of random elements from LOW to HIGH, with a random scale and bias per channel.
inline OpCase instance_norm(const Shape& shape, float low = -2, float high = 2) {
  return OpCase("InstanceNormalization")
      .input(shape, low, high)
      .constant({shape[1]}, -1, 1)
      .constant({shape[1]}, -1, 1);
}

/// GroupNormalization, with a random scale and bias per channel.
inline OpCase group_norm(const Shape& shape, std::int64_t groups) {
  return OpCase("GroupNormalization")
      .input(shape)
      .constant({shape[1]}, -1, 1)
      .constant({shape[1]}, -1, 1)
      .attribute("num_groups", groups);
}

}  // namespace saccade
