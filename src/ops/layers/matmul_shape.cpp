#include "ops/layers/matmul_shape.hpp"

#include <algorithm>

namespace saccade {
namespace {

/// The strides of the batch dimensions, right-aligned to BATCHES, in matrices; 0 where broadcast.
Shape steps_of(const Shape& operand, const Shape& batches) {
  Shape steps = Shape::filled(batches.rank(), 0);
  std::int64_t step = 1;
  for (int i = 1; i <= operand.rank() - 2; ++i) {
    const std::int64_t dim = operand[operand.rank() - 2 - i];
    if (dim != 1) steps[batches.rank() - i] = step;
    step *= dim;
  }
  return steps;
}

}  // namespace

MatMulShape::MatMulShape(const Shape& left_shape, const Shape& right_shape) {
  const auto refuse = [&] {
    fail(ErrorCode::kInvalidFile, "MatMul can't multiply {} by {}", left_shape.to_string(), right_shape.to_string());
  };
  if (left_shape.rank() < 1 || right_shape.rank() < 1) refuse();
  const bool vector_left = left_shape.rank() == 1;
  vector_right = right_shape.rank() == 1;
  const Shape a = vector_left ? Shape{1, left_shape[0]} : left_shape;
  const Shape b = vector_right ? Shape{right_shape[0], 1} : right_shape;
  m = a[a.rank() - 2];
  k = a.back();
  n = b.back();
  if (b[b.rank() - 2] != k) refuse();
  const int rank = std::max(a.rank(), b.rank()) - 2;
  batches = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() - 2 ? a[a.rank() - 2 - i] : 1;
    const std::int64_t y = i <= b.rank() - 2 ? b[b.rank() - 2 - i] : 1;
    if (x != y && x != 1 && y != 1) refuse();
    batches[rank - i] = x == 1 ? y : x;
  }
  left_steps = steps_of(a, batches);
  right_steps = steps_of(b, batches);
  output = batches;
  if (!vector_left) output.push_back(m);
  if (!vector_right) output.push_back(n);
  batch = batches.elements();
}

std::int64_t MatMulShape::offset(std::int64_t index, const Shape& steps) const {
  std::int64_t sum = 0;
  for (int axis = batches.rank() - 1; axis >= 0; --axis) {
    sum += index % batches[axis] * steps[axis];
    index /= batches[axis];
  }
  return sum;
}

}  // namespace saccade
