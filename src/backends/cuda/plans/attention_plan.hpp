#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda/plans/convolution_plan.hpp"
#include "ops/layers/strided_attention.hpp"

// Tiling and source of the attention kernels (kernels/attention.cuh, kernels/attention_warpgroup.cuh), independent of
// graphs and devices.
namespace saccade::cuda {

/// An attention problem; its patterns are affine access patterns of the tensors' memory.
struct AttentionShape {
  DType dtype = DType::kFloat16;  ///< of queries, keys, values and output: float32, float16 or bfloat16
  bool tf32 = false;              ///< float32 may be rounded to tf32 for tensor cores
  DType mask = DType::kFloat32;   ///< of patterns.mask, if there is one
  float scale = 1;
  AttentionPatterns patterns;

  int element_bytes() const { return dtype == DType::kFloat32 ? 4 : 2; }
  int queries() const { return static_cast<int>(patterns.queries()); }
  int keys() const { return static_cast<int>(patterns.keys()); }
  int channels() const { return static_cast<int>(patterns.channels()); }
  int value_channels() const { return static_cast<int>(patterns.value_channels()); }
};

/// Division of work in a block: GROUPS warps of 16 TILES queries, times SPLITS, each with STEP keys per k-step of a
/// pipeline of STAGES stages. With WARPGROUPS, SPLITS consumer warpgroups take k-steps of STEP keys in turn beside one
/// producer; TILES is 1 and GROUPS 4.
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
/// Blocks per batch.
int attention_blocks(const AttentionShape& shape, const AttentionTile& tile);
/// All tiles that fit, ordered by attention_time() in microseconds.
std::vector<AttentionTile> attention_tiles(const AttentionShape& shape, const DeviceLimits& limits);
/// The same for the warpgroup kernel. None unless queries, keys and values are half precision with 16-byte vectors and
/// at most 128 channels.
std::vector<AttentionTile> warpgroup_attention_tiles(const AttentionShape& shape, const DeviceLimits& limits);
/// The first COUNT of TILES that differ in more than the number of stages: the candidates of a search.
std::vector<AttentionTile> distinct_tiles(const std::vector<AttentionTile>& tiles, std::size_t count);
double attention_time(const AttentionShape& shape, const AttentionTile& tile, const DeviceLimits& limits);
/// Source of the kernel "attention". Parameters: query, key, value, mask (any pointer if there is none), output. Grid:
/// attention_blocks(), batches.
std::string attention_source(const AttentionShape& shape, const AttentionTile& tile);

}  // namespace saccade::cuda
