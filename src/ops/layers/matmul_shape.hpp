#pragma once

#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The lengths of a matrix product by NumPy's rules: the last two dimensions are matrices, those before broadcast, a
/// one-dimensional operand is a row (left) or a column (right) whose dimension leaves the output again.
struct MatMulShape {
  /// Throws Error (kInvalidFile) where the operands don't fit.
  MatMulShape(const Shape& left_shape, const Shape& right_shape);

  /// Where the operands of product number INDEX begin, in elements.
  std::int64_t left(std::int64_t index) const { return offset(index, left_steps) * m * k; }
  std::int64_t right(std::int64_t index) const { return offset(index, right_steps) * k * n; }

  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  bool vector_right = false;
  Shape output;

 private:
  std::int64_t offset(std::int64_t index, const Shape& steps) const;

  Shape batches;     ///< the dimensions before the matrices, broadcast
  Shape left_steps;  ///< matrices from one entry of a batch dimension to the next, 0 where it is broadcast
  Shape right_steps;
};

}  // namespace saccade
