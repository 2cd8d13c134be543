#pragma once

#include "rounding.hpp"

// Tiling of gemm.cuh, for the host and for the kernel. The host's compiler and NVRTC both read this: no standard
// library.
namespace saccade::cuda {

struct GemmTiling {
  /// SHAPE and TILE have the members of GemmShape and GemmTile (plans/gemm_plan.hpp).
  template <class Shape, class Tile>
  constexpr GemmTiling(const Shape& shape, const Tile& tile) {
    const int bytes = shape.element_bytes();
    const int pad = 16 / bytes;
    m = tile.m / 16 / tile.warps_m;
    n = tile.n / 8 / tile.warps_n;
    steps = ceil_div(shape.k, tile.step);
    a_pitch = tile.step + pad;
    b_rows = shape.transposed ? tile.n : tile.step;
    b_pitch = (shape.transposed ? tile.step : tile.n) + pad;
    stage_bytes = (tile.m * a_pitch + b_rows * b_pitch) * bytes;
    shared_bytes = tile.stages * stage_bytes;
  }

  int m = 0;  ///< MMA tiles of a warp
  int n = 0;
  int steps = 0;
  // Rows in shared memory are padded by 16 bytes, so that 8 of them fall into different banks.
  int a_pitch = 0;
  int b_rows = 0;  ///< one per K, or one per column if B is transposed
  int b_pitch = 0;
  int stage_bytes = 0;
  int shared_bytes = 0;
};

}  // namespace saccade::cuda
