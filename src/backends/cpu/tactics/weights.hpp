#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

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

  /// How the elements lie and are multiplied, for packed_key().
  std::string layout() const {
    return fmt::format("{} matrices of {}, steps {} {} {}, times {}", matrices, matrix_stride, steps.out_channel,
                       steps.in_channel, steps.tap, factor);
  }
};

}  // namespace saccade::cpu
