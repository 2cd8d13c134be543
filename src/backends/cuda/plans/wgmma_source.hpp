#pragma once

#include <string>

#include "saccade/tensor.hpp"

// The wgmma instructions of a kernel: explicit specialisations of the templates of kernels/warpgroup.cuh. PTX names
// every accumulator register, so that each N is a text of its own.
namespace saccade::cuda {

/// wgmma_ss<T, N> for TYPE, float16 or bfloat16. N is a multiple of 8, up to 256.
std::string wgmma_ss_source(DType type, int n);
/// wgmma_rs<T, N> for TYPE. N is a multiple of 16, up to 64.
std::string wgmma_rs_source(DType type, int n);

}  // namespace saccade::cuda
