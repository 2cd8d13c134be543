#include "onnx/upgrade/upgrade_rule.hpp"

// A BatchNormalization in training mode normalizes with the statistics of its input. Convolutions with weight
// standardization are exported so: the input is constant then, and all of this is folded.
namespace saccade {
namespace {

/// VALUE, fp16 or bf16, as float32: the operator computes its statistics in float32 at least.
ValueId widened(Upgrade& upgrade, std::string_view what, ValueId value) {
  if (bits_of(upgrade.type_of(value).dtype) >= 32) return value;
  Node cast{.op = "Cast", .inputs = {value}};
  cast.attributes.set("to", std::int64_t{1});  // float
  return upgrade.before(what, std::move(cast));
}

/// VALUE's mean per channel.
ValueId mean_of_channels(Upgrade& upgrade, std::string_view what, ValueId value) {
  std::vector<std::int64_t> axes{0};
  for (int axis = 2; axis < upgrade.shape(0).rank(); ++axis) axes.push_back(axis);
  const Shape count{static_cast<std::int64_t>(axes.size())};
  Node mean{.op = "ReduceMean",
            .inputs = {value, upgrade.constant(fmt::format("{}_axes", what),
                                               Tensor::of<std::int64_t>(count, std::span<const std::int64_t>(axes)))}};
  mean.attributes.set("keepdims", std::int64_t{0});
  return upgrade.before(what, std::move(mean));
}

/// The variance of VALUE per channel, around MEAN.
ValueId variance_of_channels(Upgrade& upgrade, ValueId value, ValueId mean) {
  std::vector<std::int64_t> column(static_cast<std::size_t>(upgrade.shape(0).rank()), 1);
  column[1] = upgrade.shape(0)[1];
  const ValueId means = upgrade.reshaped("means", mean, Shape(std::span<const std::int64_t>(column)));
  const ValueId distance = upgrade.before("distance", {.op = "Sub", .inputs = {value, means}});
  const ValueId square = upgrade.before("square", {.op = "Mul", .inputs = {distance, distance}});
  return mean_of_channels(upgrade, "variance", square);
}

/// Gives output AT the running average of input INPUT, updated with NOW.
void give_running(Upgrade& upgrade, std::size_t at, std::size_t input, ValueId now) {
  upgrade.type(input);
  const float momentum = upgrade.node.attributes.real("momentum", 0.9F);
  const std::string name = at == 1 ? "running_mean" : "running_variance";
  const auto weighted = [&](const std::string& what, ValueId value, float weight) {
    const bool wide = upgrade.type_of(value).dtype == DType::kFloat64;
    const ValueId factor =
        upgrade.constant(what + "_weight", wide ? Tensor::scalar(double{weight}) : Tensor::scalar(weight));
    return upgrade.before(what, {.op = "Mul", .inputs = {value, factor}});
  };
  const ValueId before = widened(upgrade, name + "_before", upgrade.node.inputs[input]);
  const ValueId kept = weighted(name + "_kept", before, momentum);
  const ValueId added = weighted(name + "_added", now, 1 - momentum);
  const ValueId sum = upgrade.before(name, {.op = "Add", .inputs = {kept, added}});
  upgrade.give(at, upgrade.before(name + "_typed", {.op = "CastLike", .inputs = {sum, upgrade.node.inputs[input]}}));
}

}  // namespace

void measure_batch_norm(Upgrade& upgrade) {
  const Shape& shape = upgrade.shape(0);
  if (shape.rank() < 2 || shape.elements() == 0)
    fail(ErrorCode::kInvalidFile, "an input of shape {} has no statistics to normalise with", shape.to_string());
  const ValueId seen = widened(upgrade, "seen", upgrade.node.inputs[0]);
  const ValueId mean = mean_of_channels(upgrade, "mean", seen);
  const ValueId variance = variance_of_channels(upgrade, seen, mean);
  if (upgrade.wants(1)) give_running(upgrade, 1, 3, mean);
  if (upgrade.wants(2)) give_running(upgrade, 2, 4, variance);
  upgrade.node.outputs.resize(1, ValueId::kNone);
  upgrade.node.inputs.resize(5, ValueId::kNone);
  upgrade.node.inputs[3] = mean;
  upgrade.node.inputs[4] = variance;
}

}  // namespace saccade
