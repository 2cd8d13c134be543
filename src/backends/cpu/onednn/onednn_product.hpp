#pragma once

#include <algorithm>

#include "saccade/tensor.hpp"

namespace saccade::cpu {

/// SHAPE with leading dimensions of 1 up to RANK.
inline Shape widened(const Shape& shape, int rank) {
  Shape wide = Shape::filled(rank, 1);
  for (int i = 0; i < shape.rank(); ++i) wide[rank - shape.rank() + i] = shape[i];
  return wide;
}

/// MatMul's operands in oneDNN's form: equal rank, broadcast batch dimensions of 1; with a single right matrix the
/// batch becomes rows.
struct OnednnProduct {
  OnednnProduct(Shape left_shape, Shape right_shape) : left(left_shape), right(right_shape) {
    if (left.rank() == 1) left = Shape{1, left[0]};
    if (right.rank() == 1) right = Shape{right[0], 1};
    const std::int64_t k = left.back();
    const std::int64_t n = right.back();
    if (right.elements() == k * n) {
      left = Shape{left.elements() / k, k};
      right = Shape{k, n};
      output = Shape{left[0], n};
      return;
    }
    const int rank = std::max(left.rank(), right.rank());
    left = widened(left, rank);
    right = widened(right, rank);
    output = left;
    for (int i = 0; i < rank - 2; ++i) output[i] = std::max(left[i], right[i]);
    output[rank - 1] = n;
  }

  Shape left;
  Shape right;
  Shape output;
};

}  // namespace saccade::cpu
