#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "support/specials.hpp"

namespace saccade {

/// A function of one input: what it makes of X.
struct FunctionValues {
  std::string op;
  std::vector<float> x;
  std::vector<float> y;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
};

inline Tensor vector_of(const std::vector<float>& values) {
  return Tensor::of<float>({static_cast<std::int64_t>(values.size())}, std::span(values));
}

/// Inputs and results that a reader knows or can look up.
inline const std::vector<FunctionValues> kFunctionValues = {
    {"Relu", {-1, 0, 2, kNan}, {0, 0, 2, kNan}},
    {"LeakyRelu", {-1, 2}, {-0.01F, 2}},
    {"LeakyRelu", {-1, 2}, {-0.5F, 2}, {{"alpha", 0.5F}}},
    {"Sigmoid", {0, -100, 100, 1}, {0.5F, 0, 1, 0.7310586F}},
    {"Tanh", {0, 1, -kInfinity}, {0, 0.7615942F, -1}},
    {"Exp", {0, 1, -kInfinity}, {1, 2.7182817F, 0}},
    {"Log", {1, 0, -1}, {0, -kInfinity, kNan}},
    {"Sqrt", {4, -1}, {2, kNan}},
    {"Reciprocal", {4, -0.5F, 0}, {0.25F, -2, kInfinity}},
    {"Abs", {-3, 3}, {3, 3}},
    {"Neg", {-3, 3}, {3, -3}},
    {"Floor", {-1.5F, 1.5F}, {-2, 1}},
    {"Ceil", {-1.5F, 1.5F}, {-1, 2}},
    {"Round", {0.5F, 1.5F, 2.5F, -0.5F, -2.5F, 2.6F}, {0, 2, 2, 0, -2, 3}},
    {"Sign", {-7, 0, 7}, {-1, 0, 1}},
    {"Erf", {0, 1, -1}, {0, 0.8427008F, -0.8427008F}},
    {"Sin", {0, 1.5707964F}, {0, 1}},
    {"Cos", {0, 3.1415927F}, {1, -1}},
    {"Tan", {0, 0.7853982F}, {0, 1}},
    {"Asin", {0, 1}, {0, 1.5707964F}},
    {"Acos", {1, -1}, {0, 3.1415927F}},
    {"Atan", {0, 1}, {0, 0.7853982F}},
    {"Sinh", {0, 1}, {0, 1.1752012F}},
    {"Cosh", {0, 1}, {1, 1.5430806F}},
    {"Asinh", {0, 1.1752012F}, {0, 1}},
    {"Acosh", {1, 1.5430806F}, {0, 1}},
    {"Atanh", {0, 0.7615942F}, {0, 1}},
    {"HardSigmoid", {-3, 0, 1, 3}, {0, 0.5F, 0.7F, 1}},
    {"HardSigmoid", {1}, {0.75F}, {{"alpha", 0.5F}, {"beta", 0.25F}}},
    {"HardSwish", {-4, -1, 0, 3}, {0, -1.0F / 3, 0, 3}},
    {"Elu", {-1, 2}, {-0.63212055F, 2}},
    {"Elu", {-1, 2}, {-1.2642411F, 2}, {{"alpha", 2.0F}}},
    {"Selu", {-1, 1}, {-1.1113307F, 1.050701F}},
    {"Celu", {-1, 1}, {-0.63212055F, 1}},
    {"Celu", {-1, 1}, {-0.7869387F, 1}, {{"alpha", 2.0F}}},
    {"Swish", {0, 1, -100}, {0, 0.7310586F, 0}},
    {"Swish", {0, 1, -1}, {0, 0.880797F, -0.119203F}, {{"alpha", 2.0F}}},
    {"ThresholdedRelu", {0.5F, 1, 1.5F}, {0, 0, 1.5F}},
    {"ThresholdedRelu", {0.5F, 1, 1.5F}, {0.5F, 1, 1.5F}, {{"alpha", 0.25F}}},
    {"Softplus", {0, 100, -100}, {0.6931472F, 100, 0}},
    {"Softsign", {1, -3}, {0.5F, -0.75F}},
    {"Mish", {0, 1}, {0, 0.8650984F}},
    {"Gelu", {0, 1, -1}, {0, 0.8413447F, -0.15865526F}},
    {"Gelu", {0, 1, -1}, {0, 0.841192F, -0.158808F}, {{"approximate", std::string("tanh")}}},
};

}  // namespace saccade
