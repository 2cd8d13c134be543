#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// Rows of elements in memory, STRIDE elements apart.
template <typename Element>
struct StridedRows {
  Element* first;
  std::size_t stride;
};

/// Conversions between float32 and bfloat16, which is stored in 16-bit integers: ROWS rows of COLUMNS elements.
struct HalfKernels {
  void (*widen)(StridedRows<const std::uint16_t> src, StridedRows<float> dst, std::size_t rows, std::size_t columns);
  /// Rounds half to even. NaN becomes a quiet NaN.
  void (*narrow)(StridedRows<const float> src, StridedRows<std::uint16_t> dst, std::size_t rows, std::size_t columns);
  /// The same, but a denormal result may become zero.
  void (*narrow_results)(StridedRows<const float> src, StridedRows<std::uint16_t> dst, std::size_t rows,
                         std::size_t columns);
  /// COUNT pixels of three elements, each with a zero behind them.
  void (*pad_three)(const std::uint16_t* src, std::size_t count, std::uint16_t* dst);
};

const HalfKernels& half_kernels();

}  // namespace saccade::cpu
