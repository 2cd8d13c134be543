#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/convolution_plan.hpp"
#include "ops/strided_attention.hpp"

// Attention in one kernel (kernels/attention.cuh), apart from graphs and devices.
namespace saccade::cuda {

/// What an attention computes; its walks go through the tensors' memory.
struct AttentionShape {
  DType dtype = DType::kFloat16;  ///< of queries, keys, values and answers: float32, float16 or bfloat16
  DType mask = DType::kFloat32;   ///< of walks.mask, where there is one
  float scale = 1;
  AttentionWalks walks;
};

/// How a block shares out its work: GROUPS warps have 16 TILES queries each, SPLITS times over, and each of those has
/// STEP keys of a step of the ring, which has so many STAGES.
struct AttentionTile {
  int tiles = 1;
  int groups = 1;
  int splits = 4;
  int step = 32;
  int stages = 2;

  int rows() const { return 16 * tiles * groups; }
  int threads() const { return 32 * groups * splits; }
  std::string to_string() const;
};

int attention_shared_bytes(const AttentionShape& shape, const AttentionTile& tile);
/// Blocks of one batch.
int attention_blocks(const AttentionShape& shape, const AttentionTile& tile);
/// The tiles that fit, the most promising first by attention_time(), in microseconds.
std::vector<AttentionTile> attention_tiles(const AttentionShape& shape, const DeviceLimits& limits);
double attention_time(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits);
/// The kernel "attention": its parameters are query, key, value, mask (or anything), output. Its grid is
/// attention_blocks(), batches.
std::string attention_source(const AttentionShape& shape, const AttentionTile& tile);

}  // namespace saccade::cuda
