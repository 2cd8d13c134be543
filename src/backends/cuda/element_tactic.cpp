#include "cuda/element_tactic.hpp"

#include "cuda/element_functions.hpp"

namespace saccade::cuda {
namespace {

// Places are 32-bit numbers.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

Support supports_value(const Value& value) {
  if (value.type.dtype > DType::kBool)
    return Support::no(fmt::format("kernels read no {}", to_string(value.type.dtype)));
  if (value.type.shape.elements() >= kMaxElements)
    return Support::no(fmt::format("its tensor of {} is too large", value.type.shape.to_string()));
  return {};
}

class ElementTactic : public Tactic {
 public:
  ElementTactic(Device& device, ElementOperators operators) : device_(device), operators_(std::move(operators)) {}
  std::string_view name() const override { return operators_.name; }

  Support supports(const NodeContext& context) const override {
    if (Support own = operators_.supports(context); !own) return own;
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    NodeProgram program;
    for (std::size_t i = 0; i < context.node.outputs.size(); ++i) {
      const int output = static_cast<int>(i);
      if (context.node.outputs[i] == ValueId::kNone || context.output(output).type.shape.elements() == 0) continue;
      program.calls.push_back(element_kernel(context, output, operators_.element, program));
    }
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
  ElementOperators operators_;
};

}  // namespace

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
  return std::make_unique<ElementTactic>(device, std::move(operators));
}

std::string declare(ElementCode& code, std::string_view type, std::string_view start) {
  std::string name = code.fresh();
  code.line(fmt::format("{} {} = {};", type, name, start));
  return name;
}

}  // namespace saccade::cuda
