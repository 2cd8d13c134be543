#include "cuda/plans/normalized_weights.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

/// Scales the largest weight into [0.5, 1) x 2^10, far from overflow and from subnormals of half precision.
constexpr int kMaxExponent = 10;

double rounded_to(float value, DType type) {
  return type == DType::kFloat16 ? static_cast<double>(static_cast<float>(Float16(value)))
                                 : static_cast<double>(static_cast<float>(BFloat16(value)));
}

}  // namespace

NormalizedWeights normalized_weights(std::vector<float> weights, std::vector<float> bias, std::span<const float> scale,
                                     std::span<const float> shift, DType rounded) {
  NormalizedWeights made{.weights = std::move(weights), .bias = std::move(bias)};
  const std::size_t channels = scale.size();
  const std::size_t filters = made.weights.size() / channels;
  made.bias.resize(filters);
  float max_abs = 0;
  for (std::size_t filter = 0; filter < filters; ++filter) {
    const std::span<float> all = std::span(made.weights).subspan(filter * channels, channels);
    double shifted = 0;
    double mean = 0;
    for (std::size_t k = 0; k < channels; ++k) {
      if (!shift.empty()) shifted += static_cast<double>(shift[k]) * static_cast<double>(all[k]);
      all[k] *= scale[k];
      mean += static_cast<double>(all[k]) / static_cast<double>(channels);
    }
    made.bias[filter] += static_cast<float>(shifted);
    for (float& weight : all) {
      weight -= static_cast<float>(mean);
      max_abs = std::max(max_abs, std::abs(weight));
    }
  }
  int exponent = kMaxExponent;
  if (max_abs > 0 && std::isfinite(max_abs)) std::frexp(max_abs, &exponent);
  made.factor = std::ldexp(1.0F, exponent - kMaxExponent);
  made.sums.resize(filters);
  for (std::size_t i = 0; i < made.weights.size(); ++i)
    made.weights[i] = std::ldexp(made.weights[i], kMaxExponent - exponent);
  for (std::size_t filter = 0; filter < filters; ++filter) {
    double sum = 0;
    for (std::size_t k = 0; k < channels; ++k) sum += rounded_to(made.weights[filter * channels + k], rounded);
    made.sums[filter] = static_cast<float>(sum);
  }
  return made;
}

}  // namespace saccade::cuda
