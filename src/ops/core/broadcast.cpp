#include "ops/core/broadcast.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "tensor/view.hpp"

namespace saccade {

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape shape = Shape::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t left = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t right = i <= b.rank() ? b[b.rank() - i] : 1;
    if (left != right && left != 1 && right != 1)
      fail(ErrorCode::kInvalidFile, "shapes {} and {} don't broadcast", a.to_string(), b.to_string());
    shape[rank - i] = left == 1 ? right : left;
  }
  return shape;
}

Shape broadcast_strides(const Shape& from, const Shape& to) {
  const Shape dense = dense_strides(from);
  Shape strides = Shape::filled(to.rank(), 0);
  for (int i = 1; i <= from.rank(); ++i)
    if (from[from.rank() - i] != 1) strides[to.rank() - i] = dense[from.rank() - i];
  return strides;
}

}  // namespace saccade
