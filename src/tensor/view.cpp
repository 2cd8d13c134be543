#include "tensor/view.hpp"

namespace saccade {

Shape dense_strides(const Shape& shape, Layout layout) {
  const int rank = shape.rank();
  Shape strides = Shape::filled(rank, 1);
  std::int64_t step = 1;
  const auto place = [&](int axis) {
    strides[axis] = step;
    step *= shape[axis];
  };
  const bool channels_last = layout == Layout::kChannelsLast && rank >= 3;
  if (channels_last) place(1);
  for (int axis = rank - 1; axis >= 0; --axis)
    if (!channels_last || axis != 1) place(axis);
  return strides;
}

TensorView view_of(Tensor& tensor) { return {tensor.raw(), tensor.dtype(), Layout::kRowMajor, tensor.shape()}; }

TensorView view_of(const Tensor& tensor) {
  return {const_cast<std::byte*>(tensor.raw()), tensor.dtype(), Layout::kRowMajor, tensor.shape()};
}

}  // namespace saccade
