#include "vision/batching/batch_step.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "graph/patch.hpp"
#include "graph/print.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"
#include "ops/interpreter/infer.hpp"

namespace saccade {
namespace {

ValueId add_integers(Patch& patch, const std::string& name, const std::vector<std::int64_t>& values) {
  return patch.add_constant(name, Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

}  // namespace

BatchStep::BatchStep(const Graph& graph, const Node& node, std::span<const TensorType> types, std::int64_t images,
                     std::vector<std::optional<ImageAxis>> axes)
    : graph_(graph), node_(node), types_(types), images_(images), axes_(std::move(axes)) {}

const Shape& BatchStep::shape(std::size_t i) const {
  if (!has(i)) refuse(fmt::format("it has no input {}", i));
  return types_[static_cast<std::size_t>(node_.inputs[i])].shape;
}

const Shape& BatchStep::output_shape(std::size_t i) const {
  return types_[static_cast<std::size_t>(node_.outputs[i])].shape;
}

bool BatchStep::is_read(std::size_t i) const {
  if (i >= node_.outputs.size() || node_.outputs[i] == ValueId::kNone) return false;
  return !graph_.users(node_.outputs[i]).empty() || graph_.is_output(node_.outputs[i]);
}

ImageAxis BatchStep::required_axis(std::size_t i) const {
  if (!varies(i)) refuse(fmt::format("its input {} is the same for every image", i));
  return *axes_[i];
}

void BatchStep::require_shared_from(std::size_t first) const {
  for (std::size_t i = first; i < axes_.size(); ++i)
    if (axes_[i]) refuse(fmt::format("its input {} depends on the image", i));
}

std::vector<std::int64_t> BatchStep::integers(std::size_t i) const {
  KnownValues known(graph_);
  const Tensor* contents = has(i) ? known.get(node_.inputs[i]) : nullptr;
  if (contents == nullptr) refuse(fmt::format("its input {} depends on the image", i));
  return integers_of(view_of(*contents));
}

std::vector<int> BatchStep::axes_of(const char* attribute, std::size_t i) const {
  std::vector<std::int64_t> given = attributes().integers(attribute);
  if (given.empty() && has(i)) given = integers(i);
  std::vector<int> axes;
  for (const std::int64_t each : given) axes.push_back(InferContext::axis(each, shape(0).rank()));
  return axes;
}

void BatchStep::keep(ImageAxis axis) {
  for (std::size_t i = 0; i < node_.outputs.size(); ++i) keep(i, axis);
}

bool BatchStep::can_align(std::size_t i, ImageAxis to) const {
  constexpr int kSplit = 2;  // dimensions that the images' own one is split into, and it
  if (*axes_[i] == to) return true;
  return to.axis >= 0 && to.outer == 1 && shape(i).rank() + kSplit <= Shape::kMaxRank && shape(i)[to.axis] == to.inner;
}

void BatchStep::align(std::size_t i, ImageAxis to) {
  if (*axes_[i] != to) aligned_[i] = to;
}

void BatchStep::become_reshape(ImageAxis axis) {
  const Shape target = batched(output_shape(), axis.axis);
  operand_.assign(target.begin(), target.end());
  replacement_ = Node{.op = "Reshape"};
  replacement_->attributes.set("allowzero", std::int64_t{1});
  keep(0, axis);
}

void BatchStep::become_gather(ImageAxis axis, const std::vector<std::int64_t>& indices) {
  const std::int64_t per_image = required_axis(0).per_image();
  for (std::int64_t image = 0; image < images_; ++image)
    for (const std::int64_t index : indices) operand_.push_back(image * per_image + index);
  replacement_ = Node{.op = "Gather"};
  replacement_->attributes.set("axis", std::int64_t{axis.axis});
  keep(0, axis);
}

void BatchStep::refuse(const std::string& reason) const {
  fail(ErrorCode::kUnsupported, "{} does not keep the images of a batch apart: {}", describe(node_), reason);
}

Shape BatchStep::batched(const Shape& shape, int axis) const {
  Shape made = shape;
  made[axis] = checked_multiply(made[axis], images_);
  return made;
}

ValueId BatchStep::add_reshape(Patch& patch, ValueId from, const Value& like, const Shape& to) const {
  Node reshape{.op = "Reshape", .name = like.name + ".batch", .stage = node_.stage};
  reshape.attributes.set("allowzero", std::int64_t{1});
  reshape.inputs = {from, add_integers(patch, reshape.name, {to.begin(), to.end()})};
  return patch.add_node_with_output(std::move(reshape), {like.type.dtype, to});
}

/// By a dimension for the images alone, which is moved.
ValueId BatchStep::add_aligned(Patch& patch, std::size_t i, ImageAxis to) const {
  const Value& value = graph_.value(node_.inputs[i]);
  const ImageAxis from = *axes_[i];
  Shape split;
  for (int axis = 0; axis < shape(i).rank(); ++axis) {
    if (axis == from.axis) {
      for (const std::int64_t dim : {from.outer, images_, from.inner}) split.push_back(dim);
    } else {
      split.push_back(shape(i)[axis]);
    }
  }
  const int images = from.axis + 1;
  const int target = to.axis <= from.axis ? to.axis : to.axis + 2;
  std::vector<std::int64_t> order;
  Shape moved;
  for (int axis = 0; axis < split.rank(); ++axis) {
    if (axis == target) order.push_back(images);
    if (axis != images) order.push_back(axis);
  }
  for (const std::int64_t axis : order) moved.push_back(split[static_cast<int>(axis)]);
  Node transpose{.op = "Transpose",
                 .name = value.name + ".batch",
                 .inputs = {add_reshape(patch, node_.inputs[i], value, split)},
                 .stage = node_.stage};
  transpose.attributes.set("perm", order);
  const ValueId made = patch.add_node_with_output(std::move(transpose), {value.type.dtype, moved});
  return add_reshape(patch, made, value, batched(shape(i), to.axis));
}

BatchStep::Applied BatchStep::apply(Graph& graph, NodeId id) const {
  std::vector<std::optional<ImageAxis>> axes(node_.outputs.size());
  for (const auto& [output, axis] : kept_) {
    if (node_.outputs[output] == ValueId::kNone) continue;
    const std::int64_t elements = output_shape(output)[axis.axis];
    if (elements != axis.per_image())
      refuse(fmt::format("its output {} has {} elements along axis {}, not {}", output, elements, axis.axis,
                         axis.per_image()));
    axes[output] = axis;
  }
  Patch patch(graph, "takes a batch");
  std::vector<ValueId> inputs = node_.inputs;
  for (const auto& [i, values] : constants_) inputs[i] = add_integers(patch, graph.value(inputs[i]).name, values);
  for (const auto& [i, to] : aligned_) inputs[i] = add_aligned(patch, i, to);
  for (const auto& [i, axis] : repeated_) {
    Node concat{.op = "Concat",
                .name = graph.value(inputs[i]).name + ".batch",
                .inputs = std::vector<ValueId>(static_cast<std::size_t>(images_), inputs[i]),
                .stage = node_.stage};
    concat.attributes.set("axis", std::int64_t{axis});
    const ValueId made =
        patch.add_node_with_output(std::move(concat), {graph.value(inputs[i]).type.dtype, batched(shape(i), axis)});
    inputs[i] = made;
  }
  if (replacement_) {
    // The output keeps its name, by which values are kept in float32.
    const Value& old = graph.value(node_.outputs[0]);
    Node made = *replacement_;
    made.name = node_.name;
    made.stage = node_.stage;
    made.inputs = {inputs[0], add_integers(patch, node_.name + ".batch", operand_)};
    made.outputs = {patch.add_value(old.name, {old.type.dtype, batched(output_shape(), axes[0]->axis)})};
    patch.replace(node_.outputs[0], made.outputs[0]);
    patch.add_node(std::move(made));
  } else if (inputs != node_.inputs) {
    patch.rewire(id, inputs);
  }
  const std::vector<NodeId> added = graph.apply(patch);
  return {replacement_ ? added.back() : id, std::move(axes)};
}

}  // namespace saccade
