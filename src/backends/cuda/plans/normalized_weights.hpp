#pragma once

#include <span>
#include <vector>

#include "saccade/tensor.hpp"

namespace saccade::cuda {

/// A product of normalised rows as one of the rows themselves: for a row x of mean m and inverse deviation r,
///   sum_k (r (x_k - m) scale_k + shift_k) w_kf + bias_f  =  r factor (sum_k x_k weights_kf - m sums_f) + bias'_f.
/// Each filter's weights are brought to a mean of 0, which changes nothing but what is left of m: little is then taken
/// from the sum again, however large m is. And all are multiplied by a power of 2 that keeps them amid a half's range.
struct NormalizedWeights {
  std::vector<float> weights;  ///< by filter and channel, not rounded yet
  std::vector<float> sums;     ///< a filter's, of what its weights are rounded to: a constant row leaves the bias
  std::vector<float> bias;
  float factor = 1;
};

/// From WEIGHTS by filter and channel, BIAS of each filter (or nothing), and SCALE and SHIFT (or nothing) of each
/// channel; ROUNDED is float16 or bfloat16.
NormalizedWeights normalized_weights(std::vector<float> weights, std::vector<float> bias, std::span<const float> scale,
                                     std::span<const float> shift, DType rounded);

}  // namespace saccade::cuda
