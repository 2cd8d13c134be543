#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace saccade::cpu {

/// A strip of a GEMM or convolution in bfloat16 with float32 accumulators. Of each panel, sums[r][j] = initial[j] + the
/// sum over steps s and elements k of rows[r * stride + offsets[s] + k] * panel[s][k][j].
struct HalfStrip {
  static constexpr std::size_t kDepth = 32;    ///< elements of a full step
  static constexpr std::size_t kColumns = 32;  ///< of a panel
  static constexpr std::size_t kRows = 32;     ///< of a full tile
  static constexpr std::size_t kTileBytes = kRows * kColumns * sizeof(float);

  const std::uint16_t* rows;
  std::size_t stride;           ///< elements from a row to the next
  std::size_t height;           ///< rows; any number from 1 on
  const std::int32_t* offsets;  ///< by step
  std::size_t steps;
  std::size_t depth = kDepth;  ///< elements of a step: an even number up to kDepth
  const std::uint16_t* panel;  ///< the first, in the order of half_panel_index(); 64-byte aligned
  std::size_t panels = 1;
  std::size_t panel_stride = 0;         ///< elements from a panel to the next; a multiple of 32
  std::size_t last_columns = kColumns;  ///< of the last panel that are used: the sums of the others are not specified
  const float* initial;                 ///< kColumns of each panel, 64-byte aligned; null: zeros
  float* sums;  ///< without finish, all of them, panels next to each other; else memory of two tiles, 64-byte aligned
  std::size_t sums_stride = kColumns;  ///< kColumns with finish

  /// Called with sums of rows of panel PANEL, a few rows at a time; null: sums are left where they are.
  void (*finish)(void* data, std::size_t panel, std::size_t first_row, std::size_t rows, float* sums) = nullptr;
  void* data = nullptr;
};

/// The place in a step of DEPTH elements of a panel of element K of column J: the columns in two halves, in each the
/// elements in pairs, as the tiles of AMX and the dot products of AVX512_BF16 read them.
constexpr std::size_t half_panel_index(std::size_t k, std::size_t j, std::size_t depth = HalfStrip::kDepth) {
  constexpr std::size_t kHalf = HalfStrip::kColumns / 2;
  return j / kHalf * kHalf * depth + k / 2 * kHalf * 2 + j % kHalf * 2 + k % 2;
}

/// Denormal numbers may be taken as zero. NaN and infinities propagate.
struct HalfProductKernels {
  std::string_view name;  ///< of the instructions, for reports
  void (*run)(const HalfStrip& strip);
};

/// The kernels for this processor.
const HalfProductKernels& half_product_kernels();

}  // namespace saccade::cpu
