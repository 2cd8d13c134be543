#pragma once

#include "cuda/plans/convolution_plan.hpp"

// What the parts of a convolution's plan share: its tiling, by the formulas of kernels/convolution_tiling.cuh.
namespace saccade::cuda {

int element_bytes(const ConvolutionShape& shape);
bool is_tensor(const ConvolutionShape& shape);
bool is_bytes(const ConvolutionShape& shape);
/// K of one MMA.
int mma_k_of(const ConvolutionShape& shape);

/// Tiling of kernels/convolution_tiling.cuh.
struct ConvolutionTiling {
  ConvolutionTiling(const ConvolutionShape& shape, const ConvolutionTile& tile);

  bool few, all_taps;
  int tile_pixels, rows, m, n, group;
  int halo_height, row_taps, halo_width, loaded_pixels;
  int input_bytes, depth, weight_bytes;
  int channel_steps, steps, block_steps, stages;
  int items, item_bytes, shared_bytes, filter_tiles;
};

/// Vector width of input loads, in elements.
int load_width(const ConvolutionShape& shape);
/// Input loads per thread and k-step.
int loads_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const ConvolutionTiling& tiling);
/// Estimated registers per thread: accumulators, fragments of two MMA steps (one for float32), and addressing. Each
/// load keeps its offset and, for per-tap bounds, its origin; half precision has few.
int registers_of(const ConvolutionShape& shape, const ConvolutionTile& tile, const ConvolutionTiling& tiling);

}  // namespace saccade::cuda
