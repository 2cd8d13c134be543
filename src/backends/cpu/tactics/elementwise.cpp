#include "cpu/loops/element_program.hpp"
#include "cpu/tactics/tactics.hpp"

// Element-wise operators with their post-ops in one pass over memory, and com.microsoft's on 8-bit integers, which are
// float32 within a tile only. Bound: bytes read and written / bandwidth.
namespace saccade::cpu {
namespace {

/// Inputs of the operator itself; the operands of post-ops follow them.
int own_inputs(const NodeContext& context) {
  int count = context.input_count();
  for (const PostOp& post : context.node.post_ops)
    if (post.operand >= 0) count = std::min(count, post.operand);
  return count;
}

/// com.microsoft's operators on quantised operands with a quantised output: three inputs per operand (tensor,
/// scale, zero point), then the output's scale and zero point.
struct QuantizedOperator {
  std::string_view name;
  std::string_view real;
  int operands;
};

// operator list: these have a kernel.
constexpr QuantizedOperator kQuantized[] = {
    {"QLinearAdd", "Add", 2},
    {"QLinearMul", "Mul", 2},
    {"QLinearSigmoid", "Sigmoid", 1},
    {"QLinearLeakyRelu", "LeakyRelu", 1},
};

const QuantizedOperator* find_quantized(const Node& node) {
  if (node.domain != "com.microsoft") return nullptr;
  for (const QuantizedOperator& entry : kQuantized)
    if (entry.name == node.op) return &entry;
  return nullptr;
}

Support build_quantized(const NodeContext& context, const QuantizedOperator& entry, ElementProgram& program) {
  if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
  const auto scale = [&](int first) {
    return ByteScale{.scale = first, .zero_point = context.has(first + 1) ? first + 1 : -1};
  };
  for (int i = 0; i <= entry.operands; ++i)
    if (context.input(i < entry.operands ? 3 * i + 1 : 3 * i).type.dtype != DType::kFloat32)
      return Support::no("its scales are not float32");
  for (int i = 0; i < entry.operands; ++i) program.operand(view_of(context.input(3 * i)), 3 * i, scale(3 * i + 1));
  program.quantizes(scale(3 * entry.operands));
  if (entry.operands == 2)
    program.binary(binary_kernels(entry.real).value(), 1, 2);
  else
    program.unary(unary_kernels(entry.real).value(), 1, context.node.attributes.real("alpha", 0.01F));
  return {};
}

Support build(const NodeContext& context, ElementProgram& program) {
  const Node& node = context.node;
  if (const QuantizedOperator* entry = find_quantized(node)) return build_quantized(context, *entry, program);
  if (!is_element_type(context.output().type.dtype) || !is_element_type(context.input(0).type.dtype))
    return Support::no("only float32 and bfloat16 have vector kernels");
  const int first = program.operand(view_of(context.input(0)), 0);
  const int count = own_inputs(context);
  if (const auto operation = unary_operation(context)) {
    program.unary(operation->kernels, first, operation->alpha, operation->beta);
  } else if (const auto kernels =
                 node.domain.empty() ? binary_kernels(node.op == "Sum" ? "Add" : node.op) : std::nullopt;
             kernels && count >= 2) {
    for (int i = 1, so_far = first; i < count; ++i, so_far = ElementProgram::kOutput) {
      if (!is_element_type(context.input(i).type.dtype))
        return Support::no("only float32 and bfloat16 have vector kernels");
      const int operand = program.operand(view_of(context.input(i)), i);
      if (operand < 0) return Support::no("it has too many operands");
      program.binary(*kernels, so_far, operand);
    }
  } else {
    return Support::other_operator("there is no vector kernel for it");
  }
  std::string why;
  if (!append_post_ops(context, program, why)) return Support::no(why);
  return {};
}

class BoundElementwise : public BoundLaunch {
 public:
  BoundElementwise(const ElementProgram& program, const Bindings& bindings)
      : program_(program), output_(bindings.outputs[0].data), inputs_(bindings.inputs.begin(), bindings.inputs.end()) {}

  void run() override { program_.run(output_, inputs_.data()); }

 private:
  const ElementProgram& program_;
  void* output_;
  std::vector<TensorView> inputs_;
};

class ElementwiseLaunch : public Launch {
 public:
  explicit ElementwiseLaunch(ElementProgram program) : program_(std::move(program)) {}
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundElementwise>(program_, bindings);
  }

 private:
  ElementProgram program_;
};

class Elementwise : public Tactic {
 public:
  std::string_view name() const override { return "vector.elementwise"; }

  Support supports(const NodeContext& context) const override {
    if (context.node.outputs.size() != 1 || !context.has(0))
      return Support::other_operator("not an element-wise operator");
    ElementProgram program(view_of(context.output()));
    return build(context, program);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    ElementProgram program(view_of(context.output()));
    if (const Support built = build(context, program); !built) fail(ErrorCode::kInternal, "{}", built.reason);
    program.finish();
    return std::make_unique<ElementwiseLaunch>(std::move(program));
  }
};

}  // namespace

const Tactic& vector_elementwise() {
  static const Elementwise tactic;
  return tactic;
}

}  // namespace saccade::cpu
