#include "ops/core/op.hpp"

#include <algorithm>

namespace saccade {

const TensorType& InferContext::input(int i) const {
  if (!has(i)) fail(ErrorCode::kInvalidFile, "input {} is missing", i);
  return *inputs_[static_cast<std::size_t>(i)];
}

void InferContext::require_outputs(std::size_t count) const {
  if (node_.outputs.size() != count) fail(ErrorCode::kInvalidFile, "{} outputs, not {}", node_.outputs.size(), count);
  for (std::size_t i = 0; i < count; ++i)
    if (node_.outputs[i] == ValueId::kNone)
      fail(ErrorCode::kInvalidFile, "output {} is omitted; the operator writes all {}", i, count);
}

std::vector<std::int64_t> InferContext::integers(int i, std::string_view what) const {
  input(i);
  const Tensor* tensor = known(i);
  if (tensor == nullptr)
    fail(ErrorCode::kUnsupported, "{} (input {}) depends on the model's inputs; it must be a constant", what, i);
  if (tensor->dtype() == DType::kInt32) {
    const auto values = tensor->data<std::int32_t>();
    return {values.begin(), values.end()};
  }
  const auto values = tensor->data<std::int64_t>();
  return {values.begin(), values.end()};
}

void InferContext::output(int i, DType dtype, const Shape& shape) {
  if (i >= output_count()) return;
  outputs_[static_cast<std::size_t>(i)] = {dtype, shape};
  is_set_[static_cast<std::size_t>(i)] = true;
}

int InferContext::axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= std::max(rank, 1))
    fail(ErrorCode::kInvalidFile, "axis {} is outside a tensor of {} dimensions", axis, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

float Parameter::value(const Attributes& attributes) const {
  switch (kind) {
    case Kind::kReal: return attributes.real(attribute, default_value);
    case Kind::kFlag: return attributes.integer(attribute, default_value != 0 ? 1 : 0) != 0 ? 1.0F : 0.0F;
    case Kind::kChoice: return attributes.text(attribute) == choice ? 1.0F : 0.0F;
  }
  return default_value;
}

// Post-ops name an operator without its domain.
const Op* find_op(const PostOp& post) {
  const Op* op = find_op("", post.op);
  return op != nullptr ? op : find_op("saccade", post.op);
}

const OpTraits& traits_of(const Node& node) {
  static constexpr OpTraits kUnknown{.arity = {0, kAnyNumber}};
  const Op* op = find_op(node.domain, node.op);
  return op == nullptr ? kUnknown : op->traits;
}

bool is_float_operand(const Node& node, std::size_t i) {
  return i < static_cast<std::size_t>(traits_of(node).float_inputs) ||
         std::ranges::any_of(node.post_ops, [&](const PostOp& post) { return post.operand == static_cast<int>(i); });
}

void check_arity(const Node& node, const Arity& arity) {
  const auto given = [&](std::size_t count) {
    while (count > 0 && node.inputs[count - 1] == ValueId::kNone) --count;
    return count;
  };
  // Operands of post-ops follow the operator's own inputs.
  std::size_t own = node.inputs.size();
  for (const PostOp& post : node.post_ops)
    if (post.operand >= 0) own = std::min(own, static_cast<std::size_t>(post.operand));
  if (given(own) > static_cast<std::size_t>(arity.most) + static_cast<std::size_t>(arity.fused))
    fail(ErrorCode::kInvalidFile, "it has {} inputs; the operator takes {} at most", given(own), arity.most);
  const std::size_t count = given(node.inputs.size());
  if (count < static_cast<std::size_t>(arity.least)) fail(ErrorCode::kInvalidFile, "input {} is missing", count);
}

}  // namespace saccade
