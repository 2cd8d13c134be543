#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// A tile of a GEMM or a direct convolution: OUT[r][j] = INITIAL[j] + the sum over taps t and elements k of
/// ROWS[t][r * step + first + k] * PANEL[t][k][j]. Rows at irregular distances have a pointer each:
/// ROWS[t * ProductKernels::rows + r][first + k].
struct ProductTile {
  const float* const* rows;  ///< a pointer for each tap, or a multiple of ProductKernels::rows for each tap
  std::size_t step;          ///< floats from one row to the next; 0: at irregular distances
  std::size_t taps;          ///< 1 for a GEMM
  std::size_t first;         ///< of the elements of each row
  std::size_t depth;         ///< their number
  const float* panel;        ///< taps x depth x ProductKernels::columns
  const float* initial;      ///< one per column of the panel; null: what OUT holds
  float* out;
  std::size_t stride;   ///< floats from one row of OUT to the next
  std::size_t height;   ///< rows of OUT: 1 to ProductKernels::rows
  std::size_t columns;  ///< columns of OUT: 1 to ProductKernels::columns
};

/// Float32 products whose accumulators stay in registers.
struct ProductKernels {
  std::size_t rows;     ///< of a full tile
  std::size_t columns;  ///< of a panel
  std::int64_t cost;    ///< of a panel, relative to the others
  void (*run)(const ProductTile& tile);
};

/// The kernels for this processor and products of many columns.
const ProductKernels& product_kernels();
/// The kernels for this processor whose panels cover COLUMNS at the least cost.
const ProductKernels& product_kernels(std::int64_t columns);

}  // namespace saccade::cpu
