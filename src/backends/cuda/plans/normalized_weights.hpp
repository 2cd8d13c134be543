#pragma once

#include <span>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade::cuda {

/// Folds row normalisation into a GEMM. For a row x with mean m and inverse deviation r:
///   sum_k (r (x_k - m) scale_k + shift_k) w_kf + bias_f  =  r factor (sum_k x_k weights_kf - m sums_f) + bias'_f.
/// Each filter's weights are shifted to mean 0. This does not change the result, but keeps sums_f near 0, so that a
/// large m causes no cancellation. All weights are scaled by a power of 2 into the middle of the half-precision range.
struct NormalizedWeights {
  std::vector<float> weights;  ///< by filter and channel, unrounded
  std::vector<float> sums;     ///< per filter, of the rounded weights: a constant row yields exactly the bias
  std::vector<float> bias;
  float factor = 1;
};

/// WEIGHTS by filter and channel; BIAS per filter (or nothing); SCALE and SHIFT (or nothing) per channel. ROUNDED is
/// the type the weights will be rounded to: float16 or bfloat16.
NormalizedWeights normalized_weights(std::vector<float> weights, std::vector<float> bias, std::span<const float> scale,
                                     std::span<const float> shift, DType rounded);

}  // namespace saccade::cuda
