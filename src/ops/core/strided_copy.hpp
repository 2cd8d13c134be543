#pragma once

#include "tensor/view.hpp"

namespace saccade {

/// A strided view: the offset of the first element and the stride of each dimension, in elements. A stride of 0
/// repeats, a negative one runs backwards.
struct Strided {
  void* data = nullptr;
  std::int64_t offset = 0;
  Shape strides;
};

/// All elements of a dense tensor.
inline Strided strided(const TensorView& view) { return {view.data, 0, view.strides()}; }

/// Copies a block of EXTENT elements of DTYPE (any, strings and packed types included) from SOURCE to TARGET, whose
/// strides have EXTENT's rank. They may be in the same tensor but must not overlap.
void strided_copy(DType dtype, const Shape& extent, const Strided& source, const Strided& target);

/// Sets every element of TARGET to VALUE's single element, of the same type.
void fill_with(const TensorView& target, const TensorView& value);

/// Sets every element to zero, or to the empty string.
void fill_with_zero(const TensorView& target);

}  // namespace saccade
