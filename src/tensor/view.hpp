#pragma once

#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// Bytes that a dense tensor takes. Throws Error on a negative dimension or an absurd size.
std::size_t bytes_of(DType dtype, const Shape& shape);

/// How a value's elements lie in memory. The shape is the ONNX one (NCHW) in either.
enum class Layout : std::uint8_t {
  kRowMajor,      ///< the last dimension is contiguous
  kChannelsLast,  ///< dimension 1 is contiguous: N, spatial dimensions, C (rank 3 and up)
};

/// Element strides of a dense tensor, one a dimension, in the shape's order.
Shape dense_strides(const Shape& shape, Layout layout = Layout::kRowMajor);

/// Whether a tensor of shape A in layout LAYOUT_A, seen as shape B (of as many elements, in the same row-major order)
/// in LAYOUT_B, has every element where it was.
bool lies_alike(const Shape& a, Layout layout_a, const Shape& b, Layout layout_b);

/// Borrowed elements. The owner outlives it.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kRowMajor;
  Shape shape;

  std::int64_t elements() const noexcept { return shape.elements(); }
  std::size_t bytes() const { return bytes_of(dtype, shape); }
  Shape strides() const { return dense_strides(shape, layout); }

  /// The elements as T; an assertion on their type.
  template <typename T>
  std::span<T> as() const {
    SACCADE_ASSERT(DTypeOf<std::remove_const_t<T>>::value == dtype);
    return {static_cast<T*>(data), static_cast<std::size_t>(elements())};
  }
};

/// A view of an owning tensor's elements.
TensorView view_of(Tensor& tensor);
/// The same of a constant one; whoever gets it must not write through it.
TensorView view_of(const Tensor& tensor);

/// Copies FROM's elements as they lie to TO, which has as many of the same type.
void copy_elements(const TensorView& from, const TensorView& to);

}  // namespace saccade
