#include "onnx/sizes/slicewise.hpp"

#include <algorithm>
#include <array>

#include "ops/core/values.hpp"

namespace saccade {
namespace {

using Axis = std::optional<int>;  ///< of the output; empty: the operator needs the actual size

/// Parameters of unary operators do not have the output's axes.
Axis elementwise(const Flow& flow) {
  if (flow.at != 0 && traits_of(flow.node).elementwise == Elementwise::kUnary) return {};
  return flow.axis + flow.to().rank() - flow.from().rank();
}

/// Operators that work along one axis, given by an attribute, independently for all others.
template <int kDefault>
Axis along_another(const Flow& flow) {
  if (flow.at != 0 || InferContext::axis(flow.integer("axis", kDefault), flow.from().rank()) == flow.axis) return {};
  return flow.axis;
}

Axis concat(const Flow& flow) {
  const bool joins = InferContext::axis(flow.integer("axis", 0), flow.from().rank()) == flow.axis;
  return joins && flow.node.inputs.size() > 1 ? Axis{} : flow.axis;
}

/// Operators that write into a copy of their first input.
Axis scatter(const Flow& flow) { return flow.at == 0 ? Axis{flow.axis} : Axis{}; }

/// Whether AXES, where negative ones count from the end of RANK, contain AXIS.
bool lists(const std::vector<std::int64_t>& axes, int axis, int rank) {
  return std::ranges::any_of(axes, [&](std::int64_t each) { return InferContext::axis(each, rank) == axis; });
}

Axis without(const std::vector<std::int64_t>& axes, const Flow& flow) {
  const int rank = flow.from().rank();
  if (lists(axes, flow.axis, rank)) return {};
  int gone = 0;
  for (int i = 0; i < flow.axis; ++i) gone += lists(axes, i, rank) ? 1 : 0;
  return flow.axis - gone;
}

/// Without axes it drops dimensions of size 1, which depends on the size.
Axis squeeze(const Flow& flow) { return flow.has(1) ? without(flow.integers(1), flow) : Axis{}; }

Axis unsqueeze(const Flow& flow) {
  const std::vector<std::int64_t> axes = flow.integers(1);
  int place = flow.axis;
  for (int i = 0; i <= place; ++i) place += lists(axes, i, flow.to().rank()) ? 1 : 0;
  return place;
}

Axis reduce(const Flow& flow) {
  const std::vector<std::int64_t> axes = flow.integers(1);
  if (flow.at != 0 || (axes.empty() && flow.integer("noop_with_empty_axes", 0) == 0)) return {};
  if (flow.integer("keepdims", 1) == 0) return without(axes, flow);
  return lists(axes, flow.axis, flow.from().rank()) ? Axis{} : flow.axis;
}

Axis arg(const Flow& flow) {
  const std::vector<std::int64_t> axes{flow.integer("axis", 0)};
  if (flow.integer("keepdims", 1) == 0) return without(axes, flow);
  return along_another<0>(flow);
}

Axis transpose(const Flow& flow) {
  const int rank = flow.from().rank();
  const std::vector<std::int64_t> order = flow.node.attributes.integers("perm");
  if (order.empty()) return rank - 1 - flow.axis;
  return static_cast<int>(std::ranges::find(order, flow.axis) - order.begin());
}

Axis gather(const Flow& flow) {
  const int axis = InferContext::axis(flow.integer("axis", 0), flow.shape(0).rank());
  if (flow.at == 1) return axis + flow.axis;
  if (axis == flow.axis) return {};
  return flow.axis < axis ? flow.axis : flow.axis - 1 + flow.shape(1).rank();
}

Axis gather_nd(const Flow& flow) {
  const bool is_row = flow.at == 1 && flow.axis + 1 < flow.from().rank() && flow.integer("batch_dims", 0) == 0;
  return is_row ? flow.axis : Axis{};
}

Axis slice(const Flow& flow) {
  std::vector<std::int64_t> axes = flow.integers(3);
  if (flow.at != 0) return {};
  if (!flow.has(3))
    for (std::int64_t i = 0; i < flow.shape(1).elements(); ++i) axes.push_back(i);
  return lists(axes, flow.axis, flow.from().rank()) ? Axis{} : flow.axis;
}

/// A new shape that preserves the axis: the number of elements before it is unchanged, and the target has -1 or 0
/// there.
Axis reshape(const Flow& flow) {
  const std::vector<std::int64_t> target = flow.integers(1);
  const Shape& from = flow.from();
  const Shape& to = flow.to();
  std::int64_t wanted = 1;
  for (int i = 0; i < flow.axis; ++i) wanted *= from[i];
  std::int64_t before = 1;
  for (int i = 0; i < to.rank() && std::cmp_less(i, target.size()); before *= to[i++]) {
    const std::int64_t entry = target[static_cast<std::size_t>(i)];
    const bool as_it_was = entry == 0 && flow.integer("allowzero", 0) == 0 && i == flow.axis;
    if (before == wanted && to[i] == from[flow.axis] && (entry == -1 || as_it_was)) return i;
  }
  return {};
}

/// Operators whose first input's first axis holds images, or rows.
Axis batch(const Flow& flow) {
  const bool turned = flow.integer("transA", 0) != 0 || flow.integer("axis", 1) != 1;
  return flow.at == 0 && flow.axis == 0 && !turned ? Axis{0} : Axis{};
}

/// The regions are open, the images are not.
Axis regions(const Flow& flow) { return flow.at == 0 || flow.axis != 0 ? Axis{} : Axis{0}; }

Axis product(const Flow& flow) {
  const bool is_row = flow.at == 0 && flow.axis == flow.from().rank() - 2 && flow.shape(1).rank() >= 2;
  return is_row ? elementwise(flow) : Axis{};
}

struct SliceRule {
  std::string_view op;
  Axis (*axis)(const Flow&);
};

constexpr std::array kSliceRules = {
    SliceRule{"ArgMax", arg},
    SliceRule{"ArgMin", arg},
    SliceRule{"AveragePool", batch},
    SliceRule{"BatchNormalization", batch},
    SliceRule{"Concat", concat},
    SliceRule{"Conv", batch},
    SliceRule{"ConvTranspose", batch},
    SliceRule{"Flatten", batch},
    SliceRule{"Gather", gather},
    SliceRule{"GatherND", gather_nd},
    SliceRule{"Gemm", batch},
    SliceRule{"GlobalAveragePool", batch},
    SliceRule{"LogSoftmax", along_another<-1>},
    SliceRule{"MatMul", product},
    SliceRule{"MaxPool", batch},
    SliceRule{"ReduceL2", reduce},
    SliceRule{"ReduceMax", reduce},
    SliceRule{"ReduceMean", reduce},
    SliceRule{"ReduceMin", reduce},
    SliceRule{"ReduceSum", reduce},
    SliceRule{"Reshape", reshape},
    SliceRule{"RoiAlign", regions},
    SliceRule{"ScatterElements", scatter},
    SliceRule{"ScatterND", scatter},
    SliceRule{"Slice", slice},
    SliceRule{"Softmax", along_another<-1>},
    SliceRule{"Split", along_another<0>},
    SliceRule{"Squeeze", squeeze},
    SliceRule{"TopK", along_another<-1>},
    SliceRule{"Transpose", transpose},
    SliceRule{"Unsqueeze", unsqueeze},
};

}  // namespace

std::vector<std::int64_t> Flow::integers(std::size_t i) const {
  const Tensor* tensor = has(i) ? known.get(node.inputs[i]) : nullptr;
  return tensor == nullptr ? std::vector<std::int64_t>{} : integers_of(view_of(*tensor));
}

std::optional<int> axis_behind(const Flow& flow) {
  if (traits_of(flow.node).is_elementwise()) return elementwise(flow);
  if (!flow.node.domain.empty()) return {};
  const auto* rule = std::ranges::find(kSliceRules, flow.node.op, &SliceRule::op);
  return rule == kSliceRules.end() ? Axis{} : rule->axis(flow);
}

bool others_allow(const Graph& graph, const Node& node, int axis, const std::vector<bool>& open) {
  const bool broadcasts = traits_of(node).elementwise == Elementwise::kBroadcast;
  if (!broadcasts && node.op != "Concat") return true;
  const int rank = graph.value(node.outputs[0]).type.shape.rank();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == ValueId::kNone || open[i]) continue;
    const Shape& shape = graph.value(node.inputs[i]).type.shape;
    const int own = axis - rank + shape.rank();
    if (!broadcasts || (own >= 0 && shape[own] != 1)) return false;
  }
  return true;
}

bool works_on_all(const Node& node, std::size_t at) {
  // Indices from the invalid part may be out of range, and negative ones count from the end of the valid part.
  return !node.is("RoiAlign") && !node.op.starts_with("Scatter") &&
         !(at == 1 && (node.is("Gather") || node.is("GatherND")));
}

}  // namespace saccade
