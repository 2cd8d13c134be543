#include "onnx/upgrade/upgrade_rule.hpp"

// com.microsoft's QGemm as an integer GEMM that is rescaled.
//
// Inputs: A, its scale and zero point, B, its scale and zero point (per tensor or per column), C (int32, in the scale
// of the product), the output's scale and zero point. Without the latter the output is float32.
namespace saccade {
namespace {

/// Input I, transposed if ATTRIBUTE says so.
ValueId matrix(Upgrade& upgrade, std::size_t i, const char* attribute) {
  if (upgrade.shape(i).rank() != 2)
    fail(ErrorCode::kInvalidFile, "input {} has shape {}, not a matrix's", i, upgrade.shape(i).to_string());
  const ValueId given = upgrade.node.inputs[i];
  if (upgrade.node.attributes.integer(attribute, 0) == 0) return given;
  Node turned{.op = "Transpose", .inputs = {given}};
  turned.attributes.set("perm", std::vector<std::int64_t>{1, 0});
  return upgrade.before(fmt::format("{}_turned", attribute), std::move(turned));
}

/// The scale of the int32 product.
ValueId product_scale(Upgrade& upgrade) {
  const ValueId scale =
      upgrade.before("scale", {.op = "Mul", .inputs = {upgrade.node.inputs[1], upgrade.node.inputs[4]}});
  const float alpha = upgrade.node.attributes.real("alpha", 1);
  if (alpha == 1) return scale;
  return upgrade.before("scale_alpha",
                        {.op = "Mul", .inputs = {scale, upgrade.constant("alpha", Tensor::scalar(alpha))}});
}

}  // namespace

void open_quantized_gemm(Upgrade& upgrade) {
  const Node node = upgrade.node;
  for (const std::size_t i : {1, 2, 4, 5}) upgrade.type(i);
  const bool quantised = upgrade.has(7);
  if (quantised && !upgrade.has(8)) fail(ErrorCode::kInvalidFile, "its output's zero point is missing");
  const ValueId a = matrix(upgrade, 0, "transA");
  const ValueId b = matrix(upgrade, 3, "transB");
  ValueId sum = upgrade.before("product", {.op = "MatMulInteger", .inputs = {a, b, node.inputs[2], node.inputs[5]}});
  if (upgrade.has(6)) sum = upgrade.before("sum", {.op = "Add", .inputs = {sum, node.inputs[6]}});
  Node cast{.op = "Cast", .inputs = {sum}};
  cast.attributes.set("to", std::int64_t{1});  // float
  Node real{.op = "Mul", .inputs = {upgrade.before("number", std::move(cast)), product_scale(upgrade)}};
  if (!quantised) {
    upgrade.node = {.op = "Mul", .name = node.name, .inputs = std::move(real.inputs), .outputs = node.outputs};
    return;
  }
  upgrade.node = {.op = "QuantizeLinear",
                  .name = node.name,
                  .inputs = {upgrade.before("real", std::move(real)), node.inputs[7], node.inputs[8]},
                  .outputs = node.outputs};
}

}  // namespace saccade
