#pragma once

#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// The dimensions of a matrix multiplication by NumPy's rules: the last two dimensions are matrices, those before
/// broadcast; a one-dimensional operand is a row (left) or a column (right) whose dimension is removed from the output.
struct MatMulShape {
  /// Throws Error (kInvalidFile) if the operands do not fit.
  MatMulShape(const Shape& left_shape, const Shape& right_shape);

  /// The offsets of the operands of matrix multiplication INDEX, in elements.
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

  Shape batches;     ///< the broadcast dimensions before the matrices
  Shape left_steps;  ///< strides of batch dimensions in matrices, 0 where broadcast
  Shape right_steps;
};

}  // namespace saccade
