#pragma once

#include "rounding.hpp"

// Tiling of warpgroup_gemm.cuh, for the host, which sizes launches and packs weights by it, and for the kernel. The
// host's compiler and NVRTC both read this: no standard library.
namespace saccade::cuda {

struct WarpgroupTiling {
  /// SHAPE and TILE have the members of WarpgroupShape and WarpgroupTile (plans/warpgroup_plan.hpp).
  template <class Shape, class Tile>
  constexpr WarpgroupTiling(const Shape& shape, const Tile& tile) {
    consumers = 128 * tile.warpgroups;
    tile_filters = 64 * tile.tiles * tile.warpgroups;
    filter_tiles = ceil_div(shape.filters, tile_filters);
    weight_bytes = tile_filters * tile.depth * 128;
    block_bytes = tile.rows * 128;
    stage_bytes = weight_bytes + block_bytes * tile.depth;
    steps = ceil_div(shape.channels, 64 * tile.depth);
    block_steps = ceil_div(steps, tile.split);
    stages = min_of(block_steps, tile.stages);
    columns = tile.rows / 8;
    owned = ceil_div(columns, tile.split);
    received_at = stages * stage_bytes;
    partial_bytes = tile.tiles * consumers * 16;
    barriers_at = received_at + (tile.split - 1) * owned * partial_bytes;
    corrections_at = barriers_at + 8 * (2 * stages + 1 + (shape.normalizes() ? 1 : 0));
    shared_bytes = corrections_at + (shape.normalizes() ? 8 * tile.rows : 0);
  }

  int consumers = 0;  ///< threads
  int tile_filters = 0;
  int filter_tiles = 0;

  // One pipeline stage: weights, then blocks of 64 channels of the tile's rows.
  int weight_bytes = 0;
  int block_bytes = 0;
  int stage_bytes = 0;
  int steps = 0;
  int block_steps = 0;  ///< of one block of a split-K cluster
  int stages = 0;

  // Accumulators: columns are groups of 8 rows.
  int columns = 0;
  int owned = 0;  ///< columns that a block finishes
  int received_at = 0;
  int partial_bytes = 0;  ///< of one column
  int barriers_at = 0;
  int corrections_at = 0;  ///< one per row, if rows are normalised
  int shared_bytes = 0;
};

}  // namespace saccade::cuda
