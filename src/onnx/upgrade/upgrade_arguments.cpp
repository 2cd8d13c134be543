#include "onnx/upgrade/upgrade_rule.hpp"

// Attributes of older operator sets that are inputs now.
namespace saccade {
namespace {

/// The attribute's integers as one-dimensional input number AT.
template <std::size_t kAt>
void move_integers(Upgrade& upgrade, std::string_view name) {
  if (!upgrade.node.attributes.has(name)) return;
  const std::vector<std::int64_t> values = upgrade.node.attributes.integers(name);
  upgrade.set_input(kAt, name, Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(values.size())}, values));
  upgrade.node.attributes.erase(name);
}

void move_axes(Upgrade& upgrade) { move_integers<1>(upgrade, "axes"); }

void move_split(Upgrade& upgrade) { move_integers<1>(upgrade, "split"); }

void move_slice(Upgrade& upgrade) {
  for (const std::string_view name : {"starts", "ends"})
    if (!upgrade.node.attributes.has(name)) fail(ErrorCode::kInvalidFile, "the attribute '{}' is missing", name);
  move_integers<1>(upgrade, "starts");
  move_integers<2>(upgrade, "ends");
  move_integers<3>(upgrade, "axes");
}

void move_real(Upgrade& upgrade, std::string_view name, std::size_t at) {
  if (!upgrade.node.attributes.has(name)) return;
  upgrade.set_input(at, name, upgrade.scalar_like(upgrade.node.attributes.real(name, 0)));
  upgrade.node.attributes.erase(name);
}

void move_pads(Upgrade& upgrade) {
  if (!upgrade.node.attributes.has("pads")) fail(ErrorCode::kInvalidFile, "the attribute 'pads' is missing");
  move_integers<1>(upgrade, "pads");
  move_real(upgrade, "value", 2);
}

void move_limits(Upgrade& upgrade) {
  move_real(upgrade, "min", 1);
  move_real(upgrade, "max", 2);
}

void move_k(Upgrade& upgrade) {
  if (!upgrade.node.attributes.has("k")) fail(ErrorCode::kInvalidFile, "the attribute 'k' is missing");
  upgrade.set_input(1, "k", Tensor::of<std::int64_t>(Shape{1}, {upgrade.node.attributes.integer("k", 0)}));
  upgrade.node.attributes.erase("k");
}

void move_scales(Upgrade& upgrade) {
  if (!upgrade.node.attributes.has("scales")) fail(ErrorCode::kInvalidFile, "the attribute 'scales' is missing");
  const std::vector<float> scales = upgrade.node.attributes.reals("scales");
  upgrade.set_input(1, "scales", Tensor::of<float>(Shape{static_cast<std::int64_t>(scales.size())}, scales));
  upgrade.node.attributes.erase("scales");
}

constexpr UpgradeRule kArgumentRules[] = {
    {"Clip", 11, move_limits},     {"Pad", 11, move_pads},          {"ReduceL1", 18, move_axes},
    {"ReduceL2", 18, move_axes},   {"ReduceLogSum", 18, move_axes}, {"ReduceLogSumExp", 18, move_axes},
    {"ReduceMax", 18, move_axes},  {"ReduceMean", 18, move_axes},   {"ReduceMin", 18, move_axes},
    {"ReduceProd", 18, move_axes}, {"ReduceSum", 13, move_axes},    {"ReduceSumSquare", 18, move_axes},
    {"Slice", 10, move_slice},     {"Split", 13, move_split},       {"Squeeze", 13, move_axes},
    {"TopK", 10, move_k},          {"Unsqueeze", 13, move_axes},    {"Upsample", 9, move_scales},
};

}  // namespace

std::span<const UpgradeRule> argument_rules() { return kArgumentRules; }

}  // namespace saccade
