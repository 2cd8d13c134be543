#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/plans/convolution_plan.hpp"
#include "ops/layers/strided_attention.hpp"

// Attention in one kernel (kernels/attention.cuh, kernels/attention_warpgroup.cuh), apart from graphs and devices.
namespace saccade::cuda {

/// What an attention computes; its walks go through the tensors' memory.
struct AttentionShape {
  DType dtype = DType::kFloat16;  ///< of queries, keys, values and answers: float32, float16 or bfloat16
  bool tf32 = false;              ///< float32 may be rounded to tf32, and is multiplied by tensor cores
  DType mask = DType::kFloat32;   ///< of walks.mask, where there is one
  float scale = 1;
  AttentionWalks walks;
};

/// How a block shares out its work: GROUPS warps have 16 TILES queries each, SPLITS times over, and each of those has
/// STEP keys of a step of the ring, which has so many STAGES. With WARPGROUPS, SPLITS of these take steps of STEP keys
/// in turn, one beside them copies, and the others are 1 and 4.
struct AttentionTile {
  int tiles = 1;
  int groups = 1;
  int splits = 4;
  int step = 32;
  int stages = 2;
  bool warpgroups = false;

  int rows() const { return 16 * tiles * groups; }
  int threads() const { return 32 * groups * splits + (warpgroups ? 128 : 0); }
  std::string to_string() const;
};

int attention_shared_bytes(const AttentionShape& shape, const AttentionTile& tile);
/// Blocks of one batch.
int attention_blocks(const AttentionShape& shape, const AttentionTile& tile);
/// The tiles that fit, the most promising first by attention_time(), in microseconds.
std::vector<AttentionTile> attention_tiles(const AttentionShape& shape, const DeviceLimits& limits);
/// Those of warpgroups, likewise; none where queries, keys or values can't be copied in 16 bytes, are no halves, or
/// have more than 128 channels.
std::vector<AttentionTile> warpgroup_attention_tiles(const AttentionShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than the ring's length: what a search tries.
std::vector<AttentionTile> distinct_tiles(const std::vector<AttentionTile>& tiles, std::size_t count);
double attention_time(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits);
/// The kernel "attention": its parameters are query, key, value, mask (or anything), output. Its grid is
/// attention_blocks(), batches.
std::string attention_source(const AttentionShape& shape, const AttentionTile& tile);

}  // namespace saccade::cuda
