#include "onnx/functions.hpp"

#include "base/error.hpp"

namespace saccade {

Functions::Functions(const onnx::ModelProto& model) {
  for (const onnx::FunctionProto& function : model.functions()) {
    const Key key{normal_domain(function.domain()), function.name(), function.overload()};
    if (!functions_.emplace(key, &function).second)
      fail(ErrorCode::kInvalidFile, "two functions are named '{}.{}'", function.domain(), function.name());
  }
}

const onnx::FunctionProto* Functions::find(const onnx::NodeProto& node) const {
  const auto found = functions_.find({normal_domain(node.domain()), node.op_type(), node.overload()});
  return found == functions_.end() ? nullptr : found->second;
}

Arguments arguments_of(const onnx::FunctionProto& function, const NamedAttributes& call) {
  Arguments arguments;
  for (const onnx::AttributeProto& otherwise : function.attribute_proto()) arguments[otherwise.name()] = &otherwise;
  for (const auto& [name, value] : call) arguments[name] = value;
  return arguments;
}

}  // namespace saccade
