#pragma once

#include <map>
#include <optional>

#include "ops/run_op.hpp"

namespace saccade::samples {

/// "Relu", "saccade.Silu".
inline std::string key_of(const Op& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}.{}", op.domain, op.name);
}

/// 0, 1, 2, ...
Tensor numbered(const Shape& shape, DType dtype = DType::kFloat32, int from = 0);
Tensor converted(const Tensor& tensor, DType dtype);
/// Axis I of the result is axis PERM[I] of TENSOR.
Tensor permuted(const Tensor& tensor, const std::vector<std::int64_t>& perm);

/// A sample call of an operator: of an element-wise one on random inputs of SHAPE, of another one from op_samples();
/// nothing if there is none.
std::optional<OpCall> sample_of(const Op& op, const Shape& shape = {2, 3}, unsigned seed = 1);
/// Sample calls of operators that are not element-wise. Inputs of data-movement operators have distinct elements.
const std::map<std::string, OpCall>& op_samples();

/// Calls with an output of the first input's type and shape, of operators that are the identity then.
const std::map<std::string, OpCall>& alike_samples();
/// Calls of layout-agnostic operators that are not element-wise, with the axes of all operands permuted.
std::optional<OpCall> permuted_sample(const Op& op, const std::vector<std::int64_t>& perm);
/// Calls with other input contents of the same shape that change the output's shape.
const std::map<std::string, OpCall>& other_sizes();

/// Infers and runs the call, with every output byte set to kPoison beforehand.
std::vector<Tensor> run_poisoned(const OpCall& call);
inline constexpr int kPoison = 0xCD;

}  // namespace saccade::samples
