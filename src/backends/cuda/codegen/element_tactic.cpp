#include "cuda/codegen/element_tactic.hpp"

#include <algorithm>

#include "cuda/codegen/element_functions.hpp"

namespace saccade::cuda {
namespace {

Support supports_value(const Value& value) {
  if (value.type.dtype > DType::kBool)
    return Support::no(fmt::format("kernels do not support {}", to_string(value.type.dtype)));
  if (value.type.shape.elements() >= kMaxElements)
    return Support::no(fmt::format("its tensor of {} is too large", value.type.shape.to_string()));
  return {};
}

/// Whether all operands keep the element order of their dense layouts, possibly with gaps. Elements that are read
/// repeatedly or in long rows should stay close.
bool keeps_order(const NodeContext& context) {
  const auto in_order = [&](ValueId id) {
    if (id == ValueId::kNone) return true;
    const Value& value = context.graph.value(id);
    const Shape& shape = value.type.shape;
    const Shape dense = dense_strides(shape, value.layout);
    const Shape strides = context.storage_of(id).strides;
    for (int i = 0; i < shape.rank(); ++i)
      for (int j = 0; j < shape.rank(); ++j)
        if (shape[i] > 1 && shape[j] > 1 && dense[i] > dense[j] && strides[i] < strides[j]) return false;
    return true;
  };
  return std::ranges::all_of(context.node.inputs, in_order) && std::ranges::all_of(context.node.outputs, in_order);
}

NodeProgram element_program(const ElementOperators& operators, const NodeContext& context) {
  NodeProgram program;
  for (std::size_t i = 0; i < context.node.outputs.size(); ++i) {
    const int output = static_cast<int>(i);
    if (context.node.outputs[i] == ValueId::kNone || context.output(output).type.shape.elements() == 0) continue;
    KernelCall call = element_kernel(context, output, operators.element, program);
    if (!operators.header.empty()) call.source = fmt::format("#include \"{}\"\n{}", operators.header, call.source);
    program.calls.push_back(std::move(call));
  }
  return program;
}

class ProgramTactic : public Tactic {
 public:
  ProgramTactic(Device& device, ProgramOperators operators) : device_(device), operators_(std::move(operators)) {}
  std::string_view name() const override { return operators_.name; }

  Support supports(const NodeContext& context) const override {
    if (Support own = operators_.supports(context); !own) return own;
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    return supports_post_ops(context);
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    return operators_.supports_strided_operands && operators_.supports_strided_operands(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const auto holds_something = [&](ValueId id) {
      return id != ValueId::kNone && context.graph.value(id).type.shape.elements() > 0;
    };
    const bool any = std::ranges::any_of(context.node.outputs, holds_something);
    return make_launch(device_, context, any ? operators_.program(context) : NodeProgram{});
  }

 private:
  Device& device_;
  ProgramOperators operators_;
};

}  // namespace

bool is_computed_in_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

std::unique_ptr<Tactic> program_tactic(Device& device, ProgramOperators operators) {
  return std::make_unique<ProgramTactic>(device, std::move(operators));
}

Support supports_tensors(const NodeContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    if (Support input = supports_value(context.input(i)); !input) return input;
  }
  for (ValueId id : context.node.outputs) {
    if (id == ValueId::kNone) continue;
    if (Support output = supports_value(context.graph.value(id)); !output) return output;
  }
  return {};
}

std::unique_ptr<Tactic> element_tactic(Device& device, ElementOperators operators) {
  const std::string_view name = operators.name;
  const auto supports = operators.supports;
  const auto program = [operators = std::move(operators)](const NodeContext& context) {
    return element_program(operators, context);
  };
  return program_tactic(device, {name, supports, program, keeps_order});
}

std::string element_of(DType to, const std::string& x) {
  if (to == DType::kBool) return x + " != 0";
  if (to < DType::kInt8) return x;
  const bool is_signed = to == DType::kInt8 || to == DType::kInt16 || to == DType::kInt32 || to == DType::kInt64;
  const std::size_t digits = bits_of(to) - (is_signed ? 1 : 0);
  const std::string_view type = storage_name(to);
  const std::string most = fmt::format("{}(~uint64(0) >> {})", type, 64 - digits);
  const std::string least = is_signed ? fmt::format("{}(-{} - 1)", type, most) : fmt::format("{}(0)", type);
  return fmt::format("saturated<{}>(double({}), {}, 0x1p{}, {}, {})", type, x,
                     is_signed ? fmt::format("-0x1p{}", digits) : "0.0", digits, least, most);
}

std::string index_into(ElementCode& code, int i, const Index& at, std::int64_t dim) {
  return code.let("int32", fmt::format("checked_index({}, {}, {})", code.input(i, at), dim, code.index_report(dim)));
}

std::string declare(ElementCode& code, std::string_view type, std::string_view start) {
  std::string name = code.fresh();
  code.line(fmt::format("{} {} = {};", type, name, start));
  return name;
}

}  // namespace saccade::cuda
