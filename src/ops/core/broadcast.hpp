#pragma once

#include "saccade/tensor.hpp"

namespace saccade {

/// The shape that A and B take together by ONNX's multidirectional (NumPy's) broadcasting.
/// Throws Error (kInvalidFile) where they don't fit.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// Element strides that walk a dense tensor of shape FROM as if it had shape TO, to which it broadcasts.
Shape broadcast_strides(const Shape& from, const Shape& to);

}  // namespace saccade
