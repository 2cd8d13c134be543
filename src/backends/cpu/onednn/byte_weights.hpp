#pragma once

#include <optional>
#include <vector>

#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// A byte tensor's elements; empty where the input is left out or not constant.
std::vector<int> bytes_of_constant(const NodeContext& context, int i);

/// A convolution's constant weights less their zero points, of which there are none, one, or one a filter: -255..255.
std::vector<int> centered_weights(const NodeContext& context, int weights, int zero_points);

/// VALUES as int8; empty where one does not fit.
std::optional<Tensor> as_bytes(const std::vector<int>& values, const Shape& shape);

/// Filters of int8 that add up to a convolution's own: PARTS neighbours to each.
struct FilterParts {
  std::int64_t parts = 1;
  Tensor filters;
};

/// Splits VALUES, filters of SHAPE, so that every part fits into int8 and none of its sums with bytes, whatever their
/// zero point, is beyond 2^24. Splits nothing of ordinary size.
FilterParts split_filters(const std::vector<int>& values, const Shape& shape);

/// Weights of a convolution in GROUPS as oneDNN takes them, the groups in front.
Shape grouped(const Shape& weights, std::int64_t groups);

}  // namespace saccade::cpu
