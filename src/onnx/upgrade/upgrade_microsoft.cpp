#include <algorithm>
#include <limits>
#include <numeric>

#include "onnx/upgrade/upgrade_rule.hpp"
#include "ops/core/values.hpp"

// com.microsoft's operators that are ONNX operators under another name, fused, or on channels-last tensors, as written
// by ONNX Runtime's quantizer and optimizers. Each is decomposed into ONNX operators, which the passes fuse again.
namespace saccade {
namespace {

/// Replaces the node with STEPS; each but the first reads its predecessor as its first input.
void replace(Upgrade& upgrade, std::vector<Node> steps) {
  Node& last = steps.back();
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const std::string what = fmt::format("{}_{}", steps[i].op, i);
    const ValueId value = upgrade.before(what, std::move(steps[i]));
    steps[i + 1].inputs.insert(steps[i + 1].inputs.begin(), value);
  }
  last.name = upgrade.node.name;
  last.outputs = upgrade.node.outputs;
  upgrade.node = std::move(last);
}

Node transpose(std::vector<std::int64_t> order, ValueId input = ValueId::kNone) {
  Node node{.op = "Transpose"};
  if (input != ValueId::kNone) node.inputs = {input};
  node.attributes.set("perm", std::move(order));
  return node;
}

/// Transposes input I from channels-last to channels-first.
void turn_input(Upgrade& upgrade, std::size_t i) {
  const int rank = upgrade.shape(i).rank();
  if (rank < 3) fail(ErrorCode::kInvalidFile, "input {} has no channels after its spatial axes", i);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin() + 2, order.end(), 1);
  order[1] = rank - 1;
  upgrade.node.inputs[i] =
      upgrade.before(fmt::format("channels_first_{}", i), transpose(order, upgrade.node.inputs[i]));
}

/// The inverse, for the output.
Node turn_back(int rank) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin() + 1, order.end() - 1, 2);
  order.back() = 1;
  return transpose(order);
}

/// The ONNX operator of the same name.
void rename(Upgrade& upgrade) { upgrade.node.domain.clear(); }

/// An operator with a channels-last option, as itself (or as REAL, an ONNX operator).
void turn(Upgrade& upgrade, std::string_view real, bool channels_last) {
  Node& node = upgrade.node;
  node.attributes.erase("channels_last");
  if (!real.empty()) {
    node.domain.clear();
    node.op = real;
  }
  if (!channels_last) return;
  const int rank = upgrade.type(0).shape.rank();
  turn_input(upgrade, 0);
  Node inner = node;
  inner.outputs.clear();
  replace(upgrade, {std::move(inner), turn_back(rank)});
}

void turn_if_asked(Upgrade& upgrade) { turn(upgrade, "", upgrade.node.attributes.integer("channels_last", 0) != 0); }

void turn_qlinear_conv(Upgrade& upgrade) {
  turn(upgrade, "QLinearConv", upgrade.node.attributes.integer("channels_last", 0) != 0);
}

void turn_max_pool(Upgrade& upgrade) { turn(upgrade, "MaxPool", true); }

/// The parameters of a fused activation.
float parameter(const std::vector<float>& parameters, std::size_t i, std::string_view activation) {
  if (i >= parameters.size())
    fail(ErrorCode::kInvalidFile, "activation_params holds {} numbers, too few for {}", parameters.size(), activation);
  return parameters[i];
}

/// The activation that FusedConv ends with.
Node activation_of(Upgrade& upgrade, const std::string& name) {
  const auto parameters = upgrade.node.attributes.reals("activation_params");
  Node node{.op = name};
  if (name == "LeakyRelu" || name == "HardSigmoid") node.attributes.set("alpha", parameter(parameters, 0, name));
  if (name == "HardSigmoid") node.attributes.set("beta", parameter(parameters, 1, name));
  if (name == "Clip") {
    node.inputs = {upgrade.constant("min", upgrade.scalar_like(parameter(parameters, 0, name))),
                   upgrade.constant("max", upgrade.scalar_like(parameter(parameters, 1, name)))};
  }
  // operator list: the activations of FusedConv and FusedGemm.
  constexpr std::array kKnown = {"Clip", "HardSigmoid", "HardSwish", "LeakyRelu", "Relu", "Sigmoid", "Tanh"};
  if (std::ranges::find(kKnown, name) == kKnown.end())
    fail(ErrorCode::kUnsupported, "the fused activation '{}' is not supported", name);
  return node;
}

/// activation(Conv(X, W, B) + Z)
std::vector<Node> conv_steps(Upgrade& upgrade) {
  const Node& node = upgrade.node;
  Node conv{.op = "Conv", .inputs = node.inputs, .attributes = node.attributes};
  conv.inputs.resize(std::min<std::size_t>(node.inputs.size(), 3));
  for (const char* fused : {"activation", "activation_params"}) conv.attributes.erase(fused);
  std::vector<Node> steps = {std::move(conv)};
  if (upgrade.has(3)) steps.push_back({.op = "Add", .inputs = {node.inputs[3]}});
  if (const std::string name = node.attributes.text("activation"); !name.empty())
    steps.push_back(activation_of(upgrade, name));
  return steps;
}

void open_conv(Upgrade& upgrade) { replace(upgrade, conv_steps(upgrade)); }

void open_nhwc_conv(Upgrade& upgrade) {
  const int rank = upgrade.shape(0).rank();
  turn_input(upgrade, 0);
  if (upgrade.has(3)) turn_input(upgrade, 3);
  std::vector<Node> steps = conv_steps(upgrade);
  steps.push_back(turn_back(rank));
  replace(upgrade, std::move(steps));
}

/// An operand of FusedMatMul: SIDE's trans transposes its matrices, its transBatch the first dimension.
ValueId operand(Upgrade& upgrade, std::size_t i, const std::string& side) {
  const Attributes& attributes = upgrade.node.attributes;
  const int rank = upgrade.shape(i).rank();
  std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  if (attributes.integer("transBatch" + side, 0) != 0 && rank > 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (attributes.integer("trans" + side, 0) != 0 && rank > 1) std::swap(order.back(), order[order.size() - 2]);
  const ValueId given = upgrade.node.inputs[i];
  return std::ranges::is_sorted(order) ? given : upgrade.before("turned_" + side, transpose(order, given));
}

void open_matmul(Upgrade& upgrade) {
  std::vector<Node> steps = {{.op = "MatMul", .inputs = {operand(upgrade, 0, "A"), operand(upgrade, 1, "B")}}};
  if (const float alpha = upgrade.node.attributes.real("alpha", 1); alpha != 1)
    steps.push_back({.op = "Mul", .inputs = {upgrade.constant("alpha", upgrade.scalar_like(alpha))}});
  replace(upgrade, std::move(steps));
}

Node gelu(std::string approximate) {
  Node node{.op = "Gelu"};
  node.attributes.set("approximate", std::move(approximate));
  return node;
}

/// Gelu of the first input, plus the second where there is one.
void open_gelu(Upgrade& upgrade, std::string approximate) {
  std::vector<Node> steps = {gelu(std::move(approximate))};
  if (upgrade.has(1))
    steps.insert(steps.begin(), {.op = "Add", .inputs = {upgrade.node.inputs[0], upgrade.node.inputs[1]}});
  else
    steps[0].inputs = {upgrade.node.inputs[0]};
  replace(upgrade, std::move(steps));
}

void open_exact_gelu(Upgrade& upgrade) { open_gelu(upgrade, "none"); }

void open_fast_gelu(Upgrade& upgrade) { open_gelu(upgrade, "tanh"); }

/// x * Sigmoid(alpha * x)
void open_quick_gelu(Upgrade& upgrade) {
  const ValueId x = upgrade.node.inputs[0];
  const float alpha = upgrade.node.attributes.real("alpha", 1.702F);
  std::vector<Node> steps = {{.op = "Sigmoid", .inputs = {x}}, {.op = "Mul", .inputs = {x}}};
  if (alpha != 1) {
    steps[0].inputs.clear();
    steps.insert(steps.begin(), {.op = "Mul", .inputs = {x, upgrade.constant("alpha", upgrade.scalar_like(alpha))}});
  }
  replace(upgrade, std::move(steps));
}

/// NORM of (input + skip + bias), which is also output 3; the norm's parameters are inputs 2 and on, the bias is BIAS.
void open_skip_norm(Upgrade& upgrade, std::string_view norm, std::size_t bias) {
  Node& node = upgrade.node;
  upgrade.type(1);
  ValueId sum = upgrade.before("sum", {.op = "Add", .inputs = {node.inputs[0], node.inputs[1]}});
  if (upgrade.has(bias)) sum = upgrade.before("biased", {.op = "Add", .inputs = {sum, node.inputs[bias]}});
  if (upgrade.wants(3)) upgrade.give(3, sum);
  Node result{.op = std::string(norm), .name = node.name, .inputs = {sum}, .outputs = node.outputs};
  for (std::size_t i = 2; i < bias; ++i)
    result.inputs.push_back(i < node.inputs.size() ? node.inputs[i] : ValueId::kNone);
  result.outputs.resize(std::min<std::size_t>(result.outputs.size(), 3));
  while (!upgrade.wants(result.outputs.size() - 1) && result.outputs.size() > 1) result.outputs.pop_back();
  result.attributes.set("epsilon", node.attributes.real("epsilon", 1e-12F));
  node = std::move(result);
}

void open_skip_layer_norm(Upgrade& upgrade) { open_skip_norm(upgrade, "LayerNormalization", 4); }

void open_skip_rms_norm(Upgrade& upgrade) { open_skip_norm(upgrade, "RMSNormalization", 3); }

/// Softmax of the dequantized input; before operator set 13 over all dimensions from the axis on.
void open_qlinear_softmax(Upgrade& upgrade) {
  const Node node = upgrade.node;
  if (!upgrade.has(4)) fail(ErrorCode::kInvalidFile, "its output's zero point is missing");
  const Shape shape = upgrade.shape(0);
  int axis = InferContext::axis(node.attributes.integer("axis", -1), shape.rank());
  ValueId real =
      upgrade.before("real", {.op = "DequantizeLinear", .inputs = {node.inputs.begin(), node.inputs.begin() + 3}});
  const bool flat = node.attributes.integer("opset", 13) < 13 && axis + 1 < shape.rank();
  if (flat) {
    std::int64_t rows = 1;
    for (int i = 0; i < axis; ++i) rows *= shape[i];
    real = upgrade.reshaped("rows", real, {rows, rows == 0 ? 0 : shape.elements() / rows});
    axis = 1;
  }
  Node softmax{.op = "Softmax", .inputs = {real}};
  softmax.attributes.set("axis", std::int64_t{axis});
  real = upgrade.before("softmax", std::move(softmax));
  if (flat) real = upgrade.reshaped("shaped", real, shape);
  upgrade.node = {.op = "QuantizeLinear",
                  .name = node.name,
                  .inputs = {real, node.inputs[3], node.inputs[4]},
                  .outputs = node.outputs};
}

constexpr UpgradeRule kMicrosoftRules[] = {
    {"BiasGelu", kAlways, open_exact_gelu},
    {"DequantizeLinear", kAlways, rename},
    {"FastGelu", kAlways, open_fast_gelu},
    {"FusedConv", kAlways, open_conv},
    {"FusedMatMul", kAlways, open_matmul},
    {"Gelu", kAlways, open_exact_gelu},
    {"MultiHeadAttention", kAlways, open_multi_head_attention},
    {"NhwcConv", kAlways, open_nhwc_conv},
    {"NhwcFusedConv", kAlways, open_nhwc_conv},
    {"NhwcMaxPool", kAlways, turn_max_pool},
    {"QGemm", kAlways, open_quantized_gemm},
    {"QLinearAveragePool", kAlways, turn_if_asked},
    {"QLinearConv", kAlways, turn_qlinear_conv},
    {"QLinearGlobalAveragePool", kAlways, turn_if_asked},
    {"QLinearSoftmax", kAlways, open_qlinear_softmax},
    {"QuantizeLinear", kAlways, rename},
    {"QuickGelu", kAlways, open_quick_gelu},
    {"SkipLayerNormalization", kAlways, open_skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", kAlways, open_skip_rms_norm},
};

}  // namespace

std::span<const UpgradeRule> microsoft_rules() { return kMicrosoftRules; }

}  // namespace saccade
