#pragma once

#include "cpu/kernels/half_product_kernels.hpp"

namespace saccade::cpu {

/// Runs TILE(first row, rows, sums) for each tile of STRIP. Each is finished after the next one has been issued, so
/// that post-ops overlap with the multiplications.
template <typename Tile>
void run_tiles(const HalfStrip& strip, const Tile& tile) {
  constexpr std::size_t kTile = HalfStrip::kRows * HalfStrip::kColumns;
  const auto rows_from = [&](std::size_t first) {
    return strip.height - first < HalfStrip::kRows ? strip.height - first : HalfStrip::kRows;
  };
  if (strip.finish == nullptr) {
    for (std::size_t first = 0; first < strip.height; first += HalfStrip::kRows)
      tile(first, rows_from(first), strip.sums + first * strip.sums_stride);
    return;
  }
  std::size_t before = 0;
  for (std::size_t first = 0; first < strip.height; first += HalfStrip::kRows) {
    const std::size_t at = first / HalfStrip::kRows % 2;
    tile(first, rows_from(first), strip.sums + at * kTile);
    if (first > 0) strip.finish(strip.data, before, HalfStrip::kRows, strip.sums + (1 - at) * kTile);
    before = first;
  }
  strip.finish(strip.data, before, strip.height - before, strip.sums + before / HalfStrip::kRows % 2 * kTile);
}

/// Kernels with instructions that Highway 1.0 has no target for; null: the processor lacks them, or the operating
/// system refuses the tiles.
const HalfProductKernels* amx_half_kernels();
const HalfProductKernels* avx512_half_kernels();

}  // namespace saccade::cpu
