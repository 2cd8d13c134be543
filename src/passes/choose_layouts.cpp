#include <algorithm>
#include <map>

#include "ops/movement/transpose.hpp"
#include "passes/core/match.hpp"
#include "passes/core/min_cut.hpp"
#include "tensor/view.hpp"

// Assigns a layout to every node: convolutions prefer channels-last, some operators require row-major, most support
// either. The assignment minimises the bytes that Reorders move, as a minimum cut: nodes are vertices, and the source's
// side is channels-last. A value costs its bytes if a reader is on the other side than its producer. It costs them
// once, because all readers share one Reorder; hence a vertex between producer and readers for each direction.
//
// A Transpose from NHWC to NCHW is a free view if its output is channels-last, and the reverse if its input is.
// Therefore only that side of a Transpose is a vertex, and its bytes are the cost of the other choice.
namespace saccade {
namespace {

// One or two seconds. Networks take thousands of steps; hostile graphs reach the cubic worst case.
constexpr std::int64_t kMaxSteps = 500'000'000;
// Upper limit of a value's cost, so that the sum of all does not overflow.
constexpr std::size_t kMaxCost = std::size_t{1} << 38;

bool has_layouts(const Graph& graph, ValueId id) {
  if (id == ValueId::kNone || graph.constant(id) != nullptr) return false;
  const TensorType& type = graph.value(id).type;
  return type.shape.rank() >= 3 && type.dtype != DType::kString;
}

/// Views that keep batch and channels only merge or split spatial dimensions, which moves nothing in either layout.
bool is_view_in_either(const Graph& graph, const Node& node) {
  if (!traits_of(node).is_view() || !node.post_ops.empty()) return false;
  const Shape& from = graph.value(node.inputs[0]).type.shape;
  const Shape& to = graph.value(output_of(node)).type.shape;
  return from.rank() >= 3 && to.rank() >= 3 && from[0] == to[0] && from[1] == to[1];
}

enum class Turn { kNone, kFromChannelsLast, kToChannelsLast };

/// Whether a Transpose converts from or to channels-last order. With rank 3 both permutations may be equal; after a
/// view of an image it converts pixels to rows.
Turn turn_of(const Graph& graph, const Node& node) {
  if (!node.is("Transpose") || !node.post_ops.empty()) return Turn::kNone;
  const int rank = graph.value(node.inputs[0]).type.shape.rank();
  const Shape order = transpose_order(node.attributes, rank);
  Shape from = Shape::filled(rank, 0);
  Shape to = Shape::filled(rank, 0);
  for (int i = 1; i < rank; ++i) {
    from[i] = i == 1 ? rank - 1 : i - 1;
    to[i] = i == rank - 1 ? 1 : i + 1;
  }
  const Node* producer = graph.producer(node.inputs[0]);
  if (order == to && (order != from || (producer != nullptr && is_view_in_either(graph, *producer))))
    return Turn::kToChannelsLast;
  return order == from ? Turn::kFromChannelsLast : Turn::kNone;
}

class Chooser {
 public:
  Chooser(const Graph& graph, const Target& target) : graph_(graph), order_(graph.order()) {
    for (NodeId id : order_) add_node(id, target);
    for (std::size_t i = 0; i < graph.value_count(); ++i) add_value(static_cast<ValueId>(i));
    channels_last_ = cut_.solve(kMaxSteps);
  }

  std::optional<Patch> patch() {
    const auto count = std::ranges::count_if(order_, [&](NodeId id) { return is_channels_last(id); });
    if (count == 0) return {};
    patch_.emplace(graph_, fmt::format("{} nodes work channels-last", count));
    for (NodeId id : order_) inputs_[id] = graph_.node(id).inputs;
    for (ValueId id : graph_.inputs()) place(id, false);
    for (NodeId id : order_)
      for (ValueId output : graph_.node(id).outputs) place(output, is_channels_last(id));
    for (auto& [id, inputs] : inputs_)
      if (inputs != graph_.node(id).inputs) patch_->rewire(id, std::move(inputs));
    return std::move(patch_);
  }

 private:
  void add_node(NodeId id, const Target& target) {
    const Node& node = graph_.node(id);
    if (node.outputs.empty() || !has_layouts(graph_, output_of(node))) {
      makes_[id] = reads_[id] = MinCut::kSink;
      return;
    }
    const Turn turn = turn_of(graph_, node);
    if (turn == Turn::kNone) {
      makes_[id] = reads_[id] = add_other(node, target);
      return;
    }
    const int free = cut_.add_vertex();
    cut_.add_edge(MinCut::kSource, free, cost_of(graph_.value(output_of(node))) - 1);
    makes_[id] = turn == Turn::kFromChannelsLast ? free : MinCut::kSink;
    reads_[id] = turn == Turn::kToChannelsLast ? free : MinCut::kSink;
  }

  int add_other(const Node& node, const Target& target) {
    if (is_view_in_either(graph_, node)) return cut_.add_vertex();
    switch (target.layout_rule(graph_, node)) {
      case LayoutRule::kRowMajor: return MinCut::kSink;
      case LayoutRule::kChannelsLast: return MinCut::kSource;
      case LayoutRule::kAny: return cut_.add_vertex();
    }
    return MinCut::kSink;
  }

  /// The cost of a Reorder; one that moves nothing is still an extra node.
  static std::int64_t cost_of(const Value& value) {
    const Shape& shape = value.type.shape;
    const bool free = lies_alike(shape, Layout::kRowMajor, shape, Layout::kChannelsLast);
    return free ? 1 : 2 + static_cast<std::int64_t>(std::min(bytes_of(value.type.dtype, shape), kMaxCost));
  }

  /// Whether READER reads the value in the layout of its output. Operands of another rank stay row-major.
  bool takes_part(ValueId id, NodeId reader) const {
    const Node& node = graph_.node(reader);
    if (node.outputs.empty() || !has_layouts(graph_, output_of(node))) return false;
    return graph_.value(id).type.shape.rank() == graph_.value(output_of(node)).type.shape.rank() ||
           is_view_in_either(graph_, node);
  }

  int vertex_for(ValueId id, NodeId reader) const { return takes_part(id, reader) ? reads_.at(reader) : MinCut::kSink; }

  void add_value(ValueId id) {
    if (!has_layouts(graph_, id)) return;
    const Value& value = graph_.value(id);
    const bool made = graph_.alive(value.producer);
    if (!made && !graph_.is_input(id)) return;
    const int producer = made ? makes_.at(value.producer) : MinCut::kSink;
    const std::int64_t cost = cost_of(value);
    const int any_channels_last = cut_.add_vertex();
    const int all_channels_last = cut_.add_vertex();
    cut_.add_edge(any_channels_last, producer, cost);
    cut_.add_edge(producer, all_channels_last, cost);
    const auto add_reader = [&](int reader) {
      cut_.add_edge(reader, any_channels_last, MinCut::kNever);
      cut_.add_edge(all_channels_last, reader, MinCut::kNever);
    };
    for (NodeId reader : graph_.users(id)) add_reader(vertex_for(id, reader));
    if (graph_.is_output(id)) add_reader(MinCut::kSink);
  }

  bool is_channels_last(int vertex) const { return channels_last_[static_cast<std::size_t>(vertex)]; }
  bool is_channels_last(NodeId id) const { return is_channels_last(makes_.at(id)); }

  /// Sets the layout of a value to that of its producer, and adds a Reorder for readers on the other side.
  void place(ValueId id, bool channels_last) {
    if (!has_layouts(graph_, id)) return;
    if (channels_last) patch_->set_layout(id, Layout::kChannelsLast);
    std::vector<NodeId> others;
    for (NodeId reader : graph_.users(id))
      if (is_channels_last(vertex_for(id, reader)) != channels_last) others.push_back(reader);
    const bool output = channels_last && graph_.is_output(id);
    if (others.empty() && !output) return;
    const ValueId reordered = add_reorder(id, channels_last ? Layout::kRowMajor : Layout::kChannelsLast);
    for (NodeId reader : others) std::ranges::replace(inputs_[reader], id, reordered);
    if (output) move_output(id, reordered);
  }

  ValueId add_reorder(ValueId id, Layout layout) {
    const Node* producer = graph_.producer(id);
    Node node{.domain = "saccade",
              .op = "Reorder",
              .name = graph_.value(id).name + (layout == Layout::kChannelsLast ? ".nhwc" : ".nchw"),
              .inputs = {id},
              .stage = producer != nullptr ? producer->stage : Stage::kModel};
    return patch_->add_node_with_output(std::move(node), graph_.value(id).type, layout);
  }

  /// Replacing a value redirects all of its readers; those of the original layout are restored.
  void move_output(ValueId id, ValueId reordered) {
    patch_->replace(id, reordered);
    for (NodeId reader : graph_.users(id)) patch_->rewire(reader, graph_.node(reader).inputs);
  }

  const Graph& graph_;
  std::vector<NodeId> order_;
  MinCut cut_;
  std::map<NodeId, int> makes_;  ///< vertex of a node's output
  std::map<NodeId, int> reads_;  ///< vertex of its inputs
  std::vector<bool> channels_last_;
  std::optional<Patch> patch_;
  std::map<NodeId, std::vector<ValueId>> inputs_;
};

}  // namespace

std::optional<Patch> choose_layouts(const PassContext& context) {
  if (!context.target.layout_rule) return {};
  // Layouts are chosen once.
  for (std::size_t i = 0; i < context.graph.value_count(); ++i)
    if (context.graph.value(static_cast<ValueId>(i)).layout != Layout::kRowMajor) return {};
  return Chooser(context.graph, context.target).patch();
}

}  // namespace saccade
