#pragma once

#include "rounding.hpp"

// Tilings of attention.cuh and attention_warpgroup.cuh, for the host and for the kernels. The host's compiler and NVRTC
// both read this: no standard library. SHAPE and TILE have the members of AttentionShape and AttentionTile
// (plans/attention_plan.hpp).
namespace saccade::cuda {

struct AttentionTiling {
  template <class Shape, class Tile>
  constexpr AttentionTiling(const Shape& shape, const Tile& tile) {
    const int bytes = shape.element_bytes();
    tensor = bytes == 2 || shape.tf32;
    rows = 16 * tile.tiles * tile.groups;
    step_keys = tile.splits * tile.step;
    steps = ceil_div(shape.keys(), step_keys);
    qk_dim = round_up(shape.channels(), 16);
    v_dim = round_up(shape.value_channels(), 16);
    pitch = qk_dim + 16 / bytes;
    value_pitch = v_dim + 16 / bytes;
    query_bytes = rows * pitch * bytes;
    stage_bytes = step_keys * (pitch + value_pitch) * bytes;
    p_pitch = tile.step + 4;
    p_bytes = tensor ? 0 : tile.splits * rows * p_pitch * 4;
    acc_pitch = v_dim + 8;
    reduction_bytes = tile.splits * rows * (acc_pitch + 2) * 4;
    shared_bytes = max_of(query_bytes + tile.stages * stage_bytes + p_bytes, reduction_bytes);
  }

  bool tensor = false;  ///< uses tensor cores
  int rows = 0;         ///< queries
  int step_keys = 0;    ///< of all splits
  int steps = 0;
  // Rows in shared memory are padded by 16 bytes, so that 8 of them fall into different banks.
  int qk_dim = 0;
  int v_dim = 0;
  int pitch = 0;
  int value_pitch = 0;
  int query_bytes = 0;
  int stage_bytes = 0;
  // P in float32, staged between the two GEMMs.
  int p_pitch = 0;
  int p_bytes = 0;
  // Split reduction: accumulators, row maximum and row sum of every split. Aliases the pipeline.
  int acc_pitch = 0;
  int reduction_bytes = 0;
  int shared_bytes = 0;
};

struct WarpgroupAttentionTiling {
  template <class Shape, class Tile>
  constexpr WarpgroupAttentionTiling(const Shape& shape, const Tile& tile) {
    const AttentionTiling common(shape, tile);
    const int qk_blocks = ceil_div(common.qk_dim, 64);
    steps = ceil_div(shape.keys(), tile.step);
    query_bytes = qk_blocks * common.rows * 128;
    key_bytes = qk_blocks * tile.step * 128;
    stage_bytes = key_bytes + ceil_div(common.v_dim, 64) * tile.step * 128;
    barriers_at = max_of(query_bytes + tile.stages * stage_bytes, common.reduction_bytes);
    shared_bytes = barriers_at + 8 * (3 * tile.stages + 1);
  }

  int steps = 0;
  // Tokens are stored in blocks of 64 channels, in rows of 128 bytes.
  int query_bytes = 0;
  int key_bytes = 0;
  int stage_bytes = 0;
  int barriers_at = 0;
  int shared_bytes = 0;
};

}  // namespace saccade::cuda
