#pragma once

#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// Size of a dense tensor in bytes. Throws Error on a negative dimension or an overflow.
std::size_t bytes_of(DType dtype, const Shape& shape);

/// Memory layout of a value. The shape is ONNX's (NCHW) in both.
enum class Layout : std::uint8_t {
  kRowMajor,      ///< the last dimension is contiguous
  kChannelsLast,  ///< dimension 1 is contiguous: N, spatial dimensions, C (rank 3 and up)
};

/// Element strides of a dense tensor, one per dimension, in the shape's order.
Shape dense_strides(const Shape& shape, Layout layout = Layout::kRowMajor);

/// Whether a tensor of shape A in LAYOUT_A is identical in memory to its reshape to B (same number of elements, same
/// row-major order) in LAYOUT_B.
bool lies_alike(const Shape& a, Layout layout_a, const Shape& b, Layout layout_b);

/// Borrowed elements. The owner must outlive it.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kRowMajor;
  Shape shape;

  std::int64_t elements() const noexcept { return shape.elements(); }
  std::size_t bytes() const { return bytes_of(dtype, shape); }
  Shape strides() const { return dense_strides(shape, layout); }

  /// The elements as T; asserts their type.
  template <typename T>
  std::span<T> as() const {
    SACCADE_ASSERT(DTypeOf<std::remove_const_t<T>>::value == dtype);
    return {static_cast<T*>(data), static_cast<std::size_t>(elements())};
  }
};

/// A view of an owning tensor's elements.
TensorView view_of(Tensor& tensor);
/// The same for a constant tensor; it must not be written through.
TensorView view_of(const Tensor& tensor);

/// Copies FROM's elements in order to TO, which has the same type and number of elements.
void copy_elements(const TensorView& from, const TensorView& to);

}  // namespace saccade
