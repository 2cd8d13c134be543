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

/// One call of an operator: of an element-wise one on random inputs of SHAPE, of another one of op_samples(); nothing
/// where there is none.
std::optional<OpCall> sample_of(const Op& op, const Shape& shape = {2, 3}, unsigned seed = 1);
/// What the operators that are not element-wise are called with. Those that only move elements get each one once.
const std::map<std::string, OpCall>& op_samples();

/// A call whose output has the first input's type and shape, of operators that are the identity then.
const std::map<std::string, OpCall>& alike_samples();
/// Calls of layout-agnostic operators that are not element-wise, with the axes of everything permuted.
std::optional<OpCall> permuted_sample(const Op& op, const std::vector<std::int64_t>& perm);
/// Other inputs of the same shape for a call whose output has another shape then.
const std::map<std::string, OpCall>& other_sizes();

/// Infers and runs the call, with every output byte set to kPoison before.
std::vector<Tensor> run_poisoned(const OpCall& call);
inline constexpr int kPoison = 0xCD;

}  // namespace saccade::samples
