#include "cuda/tactics/fused_elements.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cuda/codegen/element_functions.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/move_code.hpp"
#include "cuda/tactics/tactics.hpp"

// saccade.Fused: a thread computes one element of the output, recursively from the body's last node to its inputs.
// Data-movement nodes only transform the index.
namespace saccade::cuda {
namespace {

bool is_half(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

std::shared_ptr<const Graph> body_of(const Node& node) { return node.attributes.graph("body"); }

using Rules = std::map<NodeId, ElementRule>;

/// By node of a body.
Rules rules_of(const Graph& body) {
  Rules rules;
  for (NodeId id : body.order()) {
    const NodeContext context{body, body.node(id)};
    rules[id] = find_element_rule(context);
    if (!rules[id]) rules[id] = find_move_rule(context);
  }
  return rules;
}

/// Values of a node's body, element by element. Each element is computed once and kept in a variable.
class BodyValues : public ElementSource {
 public:
  BodyValues(ElementCode& code, const Graph& body, const Rules& rules) : code_(code), body_(body), rules_(rules) {}

  std::string element(ValueId id, const Index& at) override {
    const Value& value = body_.value(id);
    if (std::string number = scalar_literal(body_.constant(id)); !number.empty()) return number;
    const std::string key = fmt::format("{}[{}]", static_cast<int>(id), fmt::join(at, ","));
    std::string name = code_.noted(key);
    if (!name.empty()) return name;
    name = code_.let(compute_name(value.type.dtype), expression(id, at));
    code_.note(key, name);
    return name;
  }

  std::string element_number(ValueId id, const std::string& number) override {
    const Value& value = body_.value(id);
    const int i = input_number(id);
    if (i >= 0) {
      const Value& outside = code_.context().input(i);
      const Shape& shape = value.type.shape;
      const bool dense = !code_.context().has_aliased_operands();
      if (dense && lies_alike(shape, Layout::kRowMajor, shape, outside.layout)) return code_.input_at_offset(i, number);
    }
    const std::string place = code_.let("int32", number);
    return element(id, declare_index(code_, place, value.type.shape, Layout::kRowMajor));
  }

 private:
  int input_number(ValueId id) const {
    const auto found = std::ranges::find(body_.inputs(), id);
    return found == body_.inputs().end() ? -1 : static_cast<int>(found - body_.inputs().begin());
  }

  std::string expression(ValueId id, const Index& at) {
    if (const int i = input_number(id); i >= 0) return code_.input(i, at);
    if (const Tensor* constant = body_.constant(id)) return constant_element(*constant, at);
    const Node& node = *body_.producer(id);
    ElementCode inside(code_, {body_, node}, *this);
    const int output = static_cast<int>(std::ranges::find(node.outputs, id) - node.outputs.begin());
    const std::string value = inside.post_ops(rules_.at(body_.value(id).producer)(inside, output, at), at);
    const DType dtype = body_.value(id).type.dtype;
    // A Cast rounds as the model specifies. Other half-precision intermediates keep their float32 precision.
    if (!node.is("Cast") || !is_half(dtype)) return value;
    return fmt::format("widen(Narrow<{}>::from({}))", storage_name(dtype), value);
  }

  std::string constant_element(const Tensor& constant, const Index& at) {
    const std::string_view type = storage_name(constant.dtype());
    const std::span<const std::byte> bytes(constant.raw(), constant.bytes());
    const std::string name = code_.table(type, {bytes.begin(), bytes.end()});
    const std::string element = fmt::format("{}[{}]", name, offset_of(at, constant.shape(), Layout::kRowMajor));
    return constant.dtype() == DType::kBool ? element + " != 0" : fmt::format("widen({})", element);
  }

  ElementCode& code_;
  const Graph& body_;
  const Rules& rules_;
};

bool can_be_part(const NodeContext& context) {
  if (!supports_tensors(context) || !supports_post_ops(context)) return false;
  return find_element_rule(context) != nullptr || has_affine_origin(context);
}

Support supports_fused(const NodeContext& context) {
  if (!context.node.is("Fused", "saccade")) return Support::other_operator("not a fused node");
  if (context.node.outputs.size() != 1) return Support::no("it has more than one output");
  const std::shared_ptr<const Graph> body = body_of(context.node);
  for (NodeId id : body->order())
    if (!can_be_part({*body, body->node(id)}))
      return Support::no(fmt::format("no kernel supports the {} in its body", body->node(id).op));
  return {};
}

NodeProgram fused_program(const NodeContext& context) {
  const std::shared_ptr<const Graph> body = body_of(context.node);
  const Rules rules = rules_of(*body);
  const auto element = [&](ElementCode& code, int output, const Index& at) {
    return BodyValues(code, *body, rules).element(body->outputs()[static_cast<std::size_t>(output)], at);
  };
  NodeProgram program;
  program.calls.push_back(element_kernel(context, 0, element, program, true));
  return program;
}

}  // namespace

bool fuses_elements(const NodeContext& context) {
  return context.node.is("Fused", "saccade") ? supports_fused(context).yes : can_be_part(context);
}

std::unique_ptr<Tactic> fused_elements(Device& device) {
  const auto anywhere = [](const NodeContext& /*context*/) { return true; };
  return program_tactic(device, {"fused", supports_fused, fused_program, anywhere});
}

}  // namespace saccade::cuda
