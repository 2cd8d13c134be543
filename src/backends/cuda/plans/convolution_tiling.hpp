#pragma once

#include "cuda/plans/convolution_plan.hpp"

// What the parts of a convolution's plan share, besides ConvolutionTiling (kernels/convolution_tiling.hpp).
namespace saccade::cuda {

bool is_tensor(const ConvolutionShape& shape);
bool is_bytes(const ConvolutionShape& shape);
/// K of one MMA.
int mma_k_of(const ConvolutionShape& shape);
/// Estimated registers per thread: accumulators, fragments of two MMA steps (one for float32), and addressing. Each
/// load keeps its offset and, for per-tap bounds, its origin; half precision has few.
int registers_of(const ConvolutionShape& shape, const ConvolutionTiling& tiling);

}  // namespace saccade::cuda
