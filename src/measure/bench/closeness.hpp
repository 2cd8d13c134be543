#pragma once

#include <string>

#include "saccade/tensor.hpp"

namespace saccade {

/// Tolerance of a number: absolute + relative * |expected|. The defaults are those of ONNX's own tests.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// How HAVE differs from WANT beyond TOLERANCE, in one phrase that names the worst element; empty if it does not.
/// Compares as ONNX's test runner does: types and shapes are equal, NaN equals NaN, infinities and strings have no
/// tolerance, complex numbers are compared by the magnitude of their difference, and a bfloat16 may be two units in the
/// last place off.
std::string difference(const Tensor& have, const Tensor& want, Tolerance tolerance);

}  // namespace saccade
