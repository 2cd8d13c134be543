#include "tensor/view.hpp"

#include <algorithm>
#include <cstring>
#include <string>

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

namespace {

/// The transposition between channels-last and row-major order: in each of BATCH blocks, CHANNELS rows of PIXELS become
/// columns. All zero if the order is the same.
struct Interleaving {
  std::int64_t batch = 0;
  std::int64_t channels = 0;
  std::int64_t pixels = 0;
  friend bool operator==(const Interleaving&, const Interleaving&) = default;
};

Interleaving interleaving(const Shape& shape, Layout layout) {
  if (layout == Layout::kRowMajor || shape.rank() < 3 || shape.elements() == 0) return {};
  const std::int64_t pixels = shape.elements() / (shape[0] * shape[1]);
  if (shape[1] == 1 || pixels == 1) return {};
  return {shape[0], shape[1], pixels};
}

}  // namespace

bool lies_alike(const Shape& a, Layout layout_a, const Shape& b, Layout layout_b) {
  return interleaving(a, layout_a) == interleaving(b, layout_b);
}

TensorView view_of(Tensor& tensor) { return {tensor.raw(), tensor.dtype(), Layout::kRowMajor, tensor.shape()}; }

TensorView view_of(const Tensor& tensor) {
  return {const_cast<std::byte*>(tensor.raw()), tensor.dtype(), Layout::kRowMajor, tensor.shape()};
}

void copy_elements(const TensorView& from, const TensorView& to) {
  if (from.dtype != DType::kString) {
    // memcpy must not see the null pointers of empty tensors.
    if (from.bytes() != 0) std::memcpy(to.data, from.data, from.bytes());
    return;
  }
  const auto* strings = static_cast<const std::string*>(from.data);
  std::copy_n(strings, from.elements(), static_cast<std::string*>(to.data));
}

}  // namespace saccade
