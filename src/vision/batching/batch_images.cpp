#include "vision/batching/batch_images.hpp"

#include "base/error.hpp"
#include "graph/patch.hpp"
#include "ops/interpreter/infer.hpp"
#include "vision/batching/batch_step.hpp"

namespace saccade {
namespace {

class Batcher {
 public:
  Batcher(Graph& graph, std::int64_t images) : graph_(graph), images_(images) {}

  void begin(ValueId input) {
    TensorType& type = graph_.value(input).type;
    if (type.shape.rank() == 0 || type.shape[0] != 1)
      fail(ErrorCode::kUnsupported,
           "the input '{}' is {}: only inputs of one image, with a dimension for it, can be batched",
           graph_.value(input).name, type.shape.to_string());
    type.shape[0] = images_;
    axes_[static_cast<std::size_t>(input)] = ImageAxis{};
  }

  /// Constants replace the shapes of values that depend on the image: they are those for one image.
  void fold_shapes() {
    if (!graph_.extents().empty())
      fail(ErrorCode::kUnsupported,
           "the number of elements of its outputs depends on the image, so that it does not support batching");
    KnownValues known(graph_);
    std::vector<std::pair<ValueId, Tensor>> folded;
    for (const NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (traits_of(node).reads != Reads::kShape) continue;
      for (const ValueId output : node.outputs)
        if (const Tensor* value = output == ValueId::kNone ? nullptr : known.get(output))
          folded.emplace_back(output, *value);
    }
    for (const auto& [output, value] : folded) {
      Patch patch(graph_, "fold a shape");
      patch.replace(output, patch.add_constant(graph_.value(output).name, value));
      graph_.apply(patch);
    }
    remember_types();
  }

  void change(NodeId id) {
    BatchStep step(graph_, graph_.node(id), types_, images_, axes_of(graph_.node(id)));
    bool varies = false;
    for (std::size_t i = 0; i < step.inputs(); ++i) varies = varies || step.varies(i);
    if (!varies) return;
    if (!step.node().post_ops.empty()) step.refuse("it has post-ops");
    batch_rule(step.node())(step);
    const std::vector<ValueId> before = step.node().outputs;
    const BatchStep::Applied applied = step.apply(graph_, id);
    types_.resize(graph_.value_count());
    axes_.resize(graph_.value_count());
    set_types(step, applied, before);
  }

  std::optional<ImageAxis> axis(ValueId id) const { return axes_[static_cast<std::size_t>(id)]; }

 private:
  void remember_types() {
    for (std::size_t i = 0; i < graph_.value_count(); ++i) types_.push_back(graph_.value(static_cast<ValueId>(i)).type);
    axes_.resize(types_.size());
  }

  std::vector<std::optional<ImageAxis>> axes_of(const Node& node) const {
    std::vector<std::optional<ImageAxis>> axes;
    for (const ValueId input : node.inputs)
      axes.push_back(input == ValueId::kNone ? std::nullopt : axes_[static_cast<std::size_t>(input)]);
    return axes;
  }

  /// The shape rule of the operator has to agree with the batch rule.
  void set_types(const BatchStep& step, const BatchStep::Applied& applied, const std::vector<ValueId>& before) {
    const Node& node = graph_.node(applied.node);
    KnownValues known(graph_);
    const std::vector<TensorType> types = infer_node(graph_, node, known);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == ValueId::kNone) continue;
      const auto made = static_cast<std::size_t>(node.outputs[i]);
      types_[made] = types_[static_cast<std::size_t>(before[i])];
      axes_[made] = applied.axes[i];
      Shape expected = types_[made].shape;
      if (const auto& axis = axes_[made]) expected[axis->axis] *= images_;
      if (types[i].shape != expected)
        step.refuse(fmt::format("its output {} is {} for {} images, and {} for one", i, types[i].shape.to_string(),
                                images_, types_[made].shape.to_string()));
      graph_.value(node.outputs[i]).type = types[i];
    }
  }

  Graph& graph_;
  std::int64_t images_;
  std::vector<TensorType> types_;               ///< for one image, by value
  std::vector<std::optional<ImageAxis>> axes_;  ///< by value
};

}  // namespace

std::vector<std::optional<ImageAxis>> batch_images(Graph& graph, ValueId input, std::int64_t images) {
  Batcher batcher(graph, images);
  batcher.fold_shapes();
  batcher.begin(input);
  for (const NodeId id : graph.order())
    if (graph.alive(id)) batcher.change(id);
  std::vector<std::optional<ImageAxis>> axes;
  for (const ValueId output : graph.outputs()) axes.push_back(batcher.axis(output));
  return axes;
}

}  // namespace saccade
