#pragma once

#include "tensor/view.hpp"

namespace saccade {

/// Converts every element of FROM to TO's type as ONNX's Cast does; both have the same number of elements, numeric or
/// bool. Floats saturate to an integer's range, NaN becomes 0.
void cast_elements(const TensorView& from, const TensorView& to);

}  // namespace saccade
