#pragma once

#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// What a library's convolution or product does with its sums: the bias, then a residual, then ReLU. Other post-ops
/// are done by a kernel of ours behind it.
struct LibraryTail {
  int residual = -1;  ///< the input of the node that is added; -1: none
  bool relu = false;
  bool rest = false;  ///< all post-ops are left to rest_program()
};
LibraryTail library_tail(const NodeContext& context);

/// Whether rest_program() can go on from sums that the library rounded to the output's type: of a float16 the first
/// post-op has to give for whatever lies beyond its end what it gives for the end.
Support supports_tail(const NodeContext& context);

/// The post-ops on the output, in its place.
NodeProgram rest_program(const NodeContext& context);

/// FLOATS as the bytes of elements of DTYPE, rounded half to even.
std::vector<std::byte> bytes_as(std::span<const float> floats, DType dtype);
/// The same of a constant's elements, whatever their type.
std::vector<std::byte> bytes_as(const Tensor& tensor, DType dtype);

}  // namespace saccade::cuda
