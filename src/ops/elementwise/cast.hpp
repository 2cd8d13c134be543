#pragma once

#include "tensor/view.hpp"

namespace saccade {

/// Converts every element of FROM to TO's type as ONNX's Cast does; as many elements, numeric or bool on either side.
/// A float outside an integer's range becomes the nearest integer, NaN becomes 0.
void cast_elements(const TensorView& from, const TensorView& to);

}  // namespace saccade
