#pragma once

#include <string>

#include "saccade/tensor.hpp"

namespace saccade {

/// How far a number may be from the one expected: absolute + relative * |expected|. The defaults are those of ONNX's
/// own tests.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// Why HAVE is not WANT within TOLERANCE, in one phrase that names the worst element; empty where it is. Compares as
/// ONNX's own test runner does: element types and shapes are equal, NaN equals NaN, infinities and strings have no
/// tolerance, complex numbers are compared by the size of their difference, and a bfloat16 may be two of its steps off.
std::string difference(const Tensor& have, const Tensor& want, Tolerance tolerance);

}  // namespace saccade
