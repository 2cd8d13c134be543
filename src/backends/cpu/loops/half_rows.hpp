#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/half_row_kernels.hpp"
#include "saccade/tensor.hpp"
#include "tensor/half.hpp"

// Rows of bfloat16 tensors for kernels of float32 rows.
namespace saccade::cpu {

/// COMPUTE(row) in place on a float32 copy of the COUNT elements at SRC, at most kLongestHalfRow; the result is rounded
/// to DST.
template <typename Compute>
void for_half_row(const std::uint16_t* src, std::uint16_t* dst, std::size_t count, const Compute& compute) {
  alignas(64) std::array<float, kLongestHalfRow> row;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  half_kernels().widen({src, 0}, {row.data(), 0}, 1, count);
  compute(row.data());
  half_kernels().narrow_results({row.data(), 0}, {dst, 0}, 1, count);
}

/// The elements of a float32 or bfloat16 tensor.
inline std::vector<float> floats_of(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) return {tensor.data<BFloat16>().begin(), tensor.data<BFloat16>().end()};
  return {tensor.data<float>().begin(), tensor.data<float>().end()};
}

}  // namespace saccade::cpu
