#pragma once

#include <optional>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade {

/// The elements of TENSOR as doubles, in row-major order (64-bit integers beyond 2^53 are rounded); nothing if they are
/// not real numbers (strings, complex numbers, frames) or narrower than a byte.
std::optional<std::vector<double>> numbers_of(const Tensor& tensor);

}  // namespace saccade
