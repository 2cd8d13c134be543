#pragma once

#include "saccade/tensor.hpp"

namespace saccade {

/// The shape of A and B under ONNX's multidirectional (NumPy's) broadcasting. Throws Error (kInvalidFile) if they are
/// incompatible.
Shape broadcast_shape(const Shape& a, const Shape& b);

/// Element strides to read a dense tensor of shape FROM broadcast to shape TO.
Shape broadcast_strides(const Shape& from, const Shape& to);

}  // namespace saccade
