#include "ops/core/dispatch.hpp"
#include "ops/quantization/quantization.hpp"

// com.microsoft's operators that are an ONNX operator between DequantizeLinear and QuantizeLinear: they run that
// operator's float32 reference.
namespace saccade {
namespace {

/// One quantized operator. Every operand is three inputs: tensor, scale, zero point. The output's scale and zero point
/// follow the operands, or precede them (QLinearConcat, which has any number of operands).
struct Rule {
  std::string_view name;
  std::string_view real;  ///< the ONNX operator
  int operands;           ///< 0: any number
};

constexpr Rule kRules[] = {
    {"QLinearAdd", "Add", 2},
    {"QLinearMul", "Mul", 2},
    {"QLinearSigmoid", "Sigmoid", 1},
    {"QLinearLeakyRelu", "LeakyRelu", 1},
    {"QLinearAveragePool", "AveragePool", 1},
    {"QLinearGlobalAveragePool", "GlobalAveragePool", 1},
    {"QLinearConcat", "Concat", 0},
};

/// Positions of an operator's inputs.
struct Places {
  int first;     ///< first operand
  int operands;  ///< number of operands
  int output;    ///< the output's scale; its zero point is next

  int operand(int i) const { return first + 3 * i; }
};

const Rule& rule_of(const Node& node) {
  for (const Rule& rule : kRules)
    if (rule.name == node.op) return rule;
  fail(ErrorCode::kInternal, "'{}' has no float operator", node.op);
}

Places places_of(const Rule& rule, int inputs) {
  if (rule.operands == 0) {
    if (inputs < 5 || (inputs - 2) % 3 != 0)
      fail(ErrorCode::kInvalidFile, "{} inputs are not a scale, a zero point and three for each operand", inputs);
    return {.first = 2, .operands = (inputs - 2) / 3, .output = 0};
  }
  return {.first = 0, .operands = rule.operands, .output = 3 * rule.operands};
}

const Op& real_op(const Rule& rule) {
  const Op* op = find_op("", rule.real);
  SACCADE_ASSERT(op != nullptr);
  return *op;
}

/// The float operator's node: the same attributes, one input per operand.
Node real_node(const Node& node, const Rule& rule, int operands) {
  return {.op = std::string(rule.real),
          .name = node.name,
          .inputs = std::vector<ValueId>(static_cast<std::size_t>(operands), ValueId::kNone),
          .outputs = {ValueId::kNone},
          .attributes = node.attributes};
}

void infer_through_float(InferContext& context) {
  if (context.attributes().integer("channels_last", 0) != 0)
    fail(ErrorCode::kUnsupported, "channels_last is not supported");
  const Rule& rule = rule_of(context.node());
  const Places places = places_of(rule, context.input_count());
  const DType stored = context.dtype(places.operand(0));
  require_type<std::int8_t, std::uint8_t>(stored, "a quantised input");
  std::vector<TensorType> reals;
  for (int i = 0; i < places.operands; ++i) {
    const int at = places.operand(i);
    if (context.dtype(at) != stored)
      fail(ErrorCode::kInvalidFile, "operand {} is {}, not {} like the first", i, to_string(context.dtype(at)),
           to_string(stored));
    check_quantization(context, at + 1, at + 2, stored);
    reals.push_back({DType::kFloat32, context.shape(at)});
  }
  check_quantization(context, places.output, places.output + 1, stored);
  std::vector<const TensorType*> inputs;
  for (const TensorType& real : reals) inputs.push_back(&real);
  const Node node = real_node(context.node(), rule, places.operands);
  InferContext inner(
      node, std::move(inputs), [](int) -> const Tensor* { return nullptr; }, [](double) { return false; });
  real_op(rule).infer(inner);
  context.output(0, stored, inner.outputs()[0].shape);
}

void reference_through_float(const KernelContext& context) {
  const Rule& rule = rule_of(context.node());
  const Places places = places_of(rule, context.input_count());
  std::vector<Tensor> reals;
  for (int i = 0; i < places.operands; ++i) {
    const int at = places.operand(i);
    Tensor& real = reals.emplace_back(DType::kFloat32, context.input(at).shape);
    dequantize(context.input(at), quantization_of(context, at + 1, at + 2), real.data<float>());
  }
  std::vector<TensorView> inputs;
  for (Tensor& real : reals) inputs.push_back(view_of(real));
  Tensor result(DType::kFloat32, context.output().shape);
  const TensorView output = view_of(result);
  const Node node = real_node(context.node(), rule, places.operands);
  real_op(rule).reference(KernelContext(node, inputs, {&output, 1}));
  quantize(output.as<const float>(), quantization_of(context, places.output, places.output + 1), context.output());
}

constexpr Op op(std::string_view name, const OpTraits& traits) {
  return {"com.microsoft", name, infer_through_float, reference_through_float, traits};
}

constexpr Op kQuantizedFloatOps[] = {
    op("QLinearAdd", {.arity = {7, 8}, .layout_agnostic = true}),
    op("QLinearMul", {.arity = {7, 8}, .layout_agnostic = true}),
    op("QLinearSigmoid", {.arity = {4, 5}, .layout_agnostic = true}),
    op("QLinearLeakyRelu", {.arity = {4, 5}, .layout_agnostic = true}),
    op("QLinearAveragePool", {.arity = {4, 5}, .cost = {.per = CostPer::kInput}}),
    op("QLinearGlobalAveragePool", {.arity = {4, 5}, .cost = {.per = CostPer::kInput}}),
    op("QLinearConcat", {.arity = {4, kAnyNumber}, .cost = {.per = CostPer::kNothing}}),
};

}  // namespace

std::span<const Op> quantized_float_ops() { return kQuantizedFloatOps; }

}  // namespace saccade
