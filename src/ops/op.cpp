#include "ops/op.hpp"

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

}  // namespace saccade
