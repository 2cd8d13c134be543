#pragma once

#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// The epilogue of a library's convolution or GEMM: bias, then residual, then ReLU. A kernel of ours applies other
/// post-ops.
struct LibraryEpilogue {
  int residual = -1;  ///< input that is added; -1: none
  bool relu = false;
  bool rest = false;  ///< all post-ops are applied by epilogue_program()
};
LibraryEpilogue library_epilogue(const NodeContext& context);

/// Whether epilogue_program() can continue from accumulators that the library has rounded to the output's type. In
/// float16 the first post-op must saturate where the accumulator may have overflowed.
Support supports_library_epilogue(const NodeContext& context);

/// A kernel that applies the post-ops to the output in place.
NodeProgram epilogue_program(const NodeContext& context);

/// FLOATS as elements of DTYPE, rounded to nearest even.
std::vector<std::byte> bytes_as(std::span<const float> floats, DType dtype);
/// The same for a constant of any type.
std::vector<std::byte> bytes_as(const Tensor& tensor, DType dtype);

}  // namespace saccade::cuda
