#pragma once

#include <vector>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {

/// The type of an attribute that holds ONNX's number of it (Cast's "to"). Throws Error (kUnsupported) on others.
DType dtype_of_onnx(std::int64_t number);

/// The elements of an int32 or int64 tensor; none of a view without data (an input left out).
/// Throws Error (kInvalidFile) on other types.
std::vector<std::int64_t> integers_of(const TensorView& view);
/// A numeric scalar (or tensor of one element) as a double. Throws Error (kInvalidFile) on anything else.
double real_of(const TensorView& view);

/// Sum and product of dimensions. Throw Error (kUnsupported) on overflow.
std::int64_t checked_add(std::int64_t a, std::int64_t b);
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);

}  // namespace saccade
