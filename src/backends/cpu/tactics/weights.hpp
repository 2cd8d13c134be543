#pragma once

#include <cstdint>

namespace saccade::cpu {

/// Strides of weights in elements.
struct WeightStrides {
  std::int64_t out_channel;
  std::int64_t in_channel;
  std::int64_t tap;
};

/// Weights of several matrices, MATRIX_STRIDE elements apart, before they are packed.
template <typename Element>
struct Weights {
  const Element* elements;
  WeightStrides steps;
  float factor = 1;
  std::int64_t matrices = 1;
  std::int64_t matrix_stride = 0;
};

}  // namespace saccade::cpu
