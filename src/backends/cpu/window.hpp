#pragma once

#include <vector>

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// How a convolution's or pool's window moves, one entry a spatial dimension. Pads may be negative: they are what makes
/// the output as large as it was inferred to be.
struct Window {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> pads_begin;
  std::vector<std::int64_t> pads_end;
};

/// From ONNX's strides, dilations, pads and auto_pad; KERNEL as the weights or kernel_shape say. SRC and DST are whole
/// shapes (N, C, spatial...); a transposed convolution swaps them.
Window window_of(const Attributes& attributes, std::vector<std::int64_t> kernel, const Shape& src, const Shape& dst);

}  // namespace saccade::cpu
