#pragma once

#include <numeric>

#include "ops/run_op.hpp"

namespace saccade {

using Named = std::vector<std::pair<std::string, Attribute>>;
using Ints = std::vector<std::int64_t>;

/// int32 0, 1, 2, ...
inline Tensor counting(const Shape& shape) {
  Tensor tensor(DType::kInt32, shape);
  std::iota(tensor.data<std::int32_t>().begin(), tensor.data<std::int32_t>().end(), 0);
  return tensor;
}

inline Tensor indices(const Ints& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, std::span(values));
}

inline Tensor strings(std::initializer_list<std::string> values) {
  Tensor tensor(DType::kString, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.strings().begin());
  return tensor;
}

inline Tensor run(const std::string& op, std::vector<Tensor> inputs, Named attributes = {}) {
  return OpCall{.op = op, .inputs = std::move(inputs), .attributes = std::move(attributes)}.one();
}

inline ErrorCode error_of(const std::string& op, std::vector<Tensor> inputs, Named attributes = {}, int outputs = 1) {
  return OpCall{.op = op, .inputs = std::move(inputs), .attributes = std::move(attributes), .outputs = outputs}
      .error()
      .first;
}

}  // namespace saccade
