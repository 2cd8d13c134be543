#include <algorithm>

#include "passes/channel_affine.hpp"

// Before opset 18, which added GroupNormalization, exporters emit Reshape to [N, groups, -1], InstanceNormalization,
// Reshape, and per-channel Mul and Add. The first three nodes become one, and per-channel arithmetic after it is folded
// into its scale and bias.
namespace saccade {
namespace {

bool is_group_norm(const Node& node) { return node.is("InstanceNormalization") || node.is("GroupNormalization"); }

/// Input I of a normalisation with one value per channel; one value per group is repeated for its channels.
std::optional<std::vector<double>> parameter(const Graph& graph, const Node& norm, std::size_t i,
                                             std::int64_t channels) {
  const Shape& shape = graph.value(norm.inputs[i]).type.shape;
  const auto values = per_channel(graph, norm.inputs[i], shape, 0);
  if (!values || values->empty()) return {};
  const auto members = static_cast<std::size_t>(channels / shape[0]);
  std::vector<double> spread;
  for (const double value : *values) spread.insert(spread.end(), members, value);
  return spread;
}

ValueId add_vector(Patch& patch, const std::string& name, const std::vector<double>& values) {
  Tensor tensor(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::ranges::transform(values, tensor.data<float>().begin(), [](double value) { return static_cast<float>(value); });
  return patch.add_constant(name, std::move(tensor));
}

/// Whether each group of GROUPED, the reshape of X to [N, groups, ...], consists of whole channels of X.
bool groups_channels(const Value& x, const Value& grouped) {
  const Shape& from = x.type.shape;
  const Shape& to = grouped.type.shape;
  return from.rank() >= 2 && to.rank() >= 2 && from.elements() > 0 && from[0] == to[0] && from[1] % to[1] == 0 &&
         x.layout == Layout::kRowMajor && grouped.layout == Layout::kRowMajor;
}

std::optional<Patch> between_reshapes(const Graph& graph, NodeId id) {
  const Node& back = graph.node(id);
  const Node* norm = producer_for(graph, back.inputs[0], id);
  if (norm == nullptr || !norm->is("InstanceNormalization") || !is_plain(*norm)) return {};
  const Node* regroup = graph.producer(norm->inputs[0]);
  if (regroup == nullptr || !regroup->is("Reshape") || !is_plain(*regroup)) return {};
  const Value& x = graph.value(regroup->inputs[0]);
  const Value& result = graph.value(output_of(back));
  const Value& grouped = graph.value(norm->inputs[0]);
  if (x.type != result.type || result.layout != Layout::kRowMajor || !groups_channels(x, grouped)) return {};
  const std::int64_t channels = x.type.shape[1];
  const std::int64_t groups = grouped.type.shape[1];
  const auto scale = parameter(graph, *norm, 1, channels);
  const auto bias = parameter(graph, *norm, 2, channels);
  if (!scale || !bias) return {};
  Patch patch(graph, fmt::format("{} of {} groups", norm->name, groups));
  Node fused{.op = groups == channels ? "InstanceNormalization" : "GroupNormalization",
             .name = norm->name,
             .inputs = {regroup->inputs[0], add_vector(patch, norm->name + ".scale", *scale),
                        add_vector(patch, norm->name + ".bias", *bias)},
             .stage = norm->stage};
  fused.attributes.set("epsilon", norm->attributes.real("epsilon", 1e-5F));
  if (groups != channels) fused.attributes.set("num_groups", groups);
  patch.replace(output_of(back), patch.add_node_with_output(std::move(fused)));
  return patch;
}

/// Folds NODE, per-channel arithmetic, into the normalisation that computes its input I.
std::optional<Patch> into_parameters(const Graph& graph, NodeId id, std::size_t i) {
  const Node& node = graph.node(id);
  const Node* norm = producer_for(graph, node.inputs[i], id);
  if (norm == nullptr || !is_group_norm(*norm) || !is_plain(*norm)) return {};
  const auto affine = as_affine(graph, node, i, 1);
  if (!affine) return {};
  const auto channels = static_cast<std::int64_t>(affine->scale.size());
  auto scale = parameter(graph, *norm, 1, channels);
  auto bias = parameter(graph, *norm, 2, channels);
  if (!scale || !bias) return {};
  for (std::size_t c = 0; c < scale->size(); ++c) {
    (*scale)[c] *= affine->scale[c];
    (*bias)[c] = (*bias)[c] * affine->scale[c] + affine->shift[c];
  }
  Patch patch(graph, fmt::format("{} into {}", node.name, norm->name));
  Node folded = *norm;
  folded.inputs[1] = add_vector(patch, norm->name + ".scale", *scale);
  folded.inputs[2] = add_vector(patch, norm->name + ".bias", *bias);
  patch.replace(output_of(node),
                patch.add_node_with_output(std::move(folded), {}, graph.value(output_of(node)).layout));
  return patch;
}

}  // namespace

std::optional<Patch> fuse_group_norm(const PassContext& context, NodeId id) {
  const Graph& graph = context.graph;
  const Node& node = graph.node(id);
  if (!is_plain(node) || !is_float32(graph, output_of(node))) return {};
  if (node.is("Reshape")) return between_reshapes(graph, id);
  if (node.inputs.size() != 2 || traits_of(node).elementwise != Elementwise::kBroadcast) return {};
  for (std::size_t i = 0; i < 2; ++i)
    if (auto patch = into_parameters(graph, id, i)) return patch;
  return {};
}

}  // namespace saccade
