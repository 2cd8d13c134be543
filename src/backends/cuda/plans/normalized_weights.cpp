#include "cuda/plans/normalized_weights.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/half.hpp"

namespace saccade::cuda {
namespace {

/// The greatest weight is between half of it and itself, far from where halves end and where they grow coarse.
constexpr int kGreatestExponent = 10;

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
  float greatest = 0;
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
      greatest = std::max(greatest, std::abs(weight));
    }
  }
  int exponent = kGreatestExponent;
  if (greatest > 0 && std::isfinite(greatest)) std::frexp(greatest, &exponent);
  made.factor = std::ldexp(1.0F, exponent - kGreatestExponent);
  made.sums.resize(filters);
  for (std::size_t i = 0; i < made.weights.size(); ++i)
    made.weights[i] = std::ldexp(made.weights[i], kGreatestExponent - exponent);
  for (std::size_t filter = 0; filter < filters; ++filter) {
    double sum = 0;
    for (std::size_t k = 0; k < channels; ++k) sum += rounded_to(made.weights[filter * channels + k], rounded);
    made.sums[filter] = static_cast<float>(sum);
  }
  return made;
}

}  // namespace saccade::cuda
