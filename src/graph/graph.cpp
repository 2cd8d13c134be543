#include "graph/graph.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace saccade {

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kPre: return "pre";
    case Stage::kModel: return "model";
    case Stage::kPost: return "post";
  }
  return "?";
}

ValueId Graph::add_value(std::string value_name, TensorType type) {
  values_.push_back({.name = std::move(value_name), .type = type});
  users_.emplace_back();
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  const ValueId id = add_value(std::move(value_name), {tensor.dtype(), tensor.shape()});
  value(id).constant = std::move(tensor);
  return id;
}

ValueId Graph::add_input(std::string value_name, TensorType type) {
  const ValueId id = add_value(std::move(value_name), type);
  inputs_.push_back(id);
  return id;
}

NodeId Graph::add_node(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  for (ValueId output : node.outputs) {
    if (output == ValueId::kNone) continue;
    Value& made = value(output);
    if (made.producer != NodeId::kNone || made.constant)
      fail(ErrorCode::kInvalidFile, "value '{}' has two producers, the second is node '{}'", made.name, node.name);
    made.producer = id;
  }
  nodes_.emplace_back(std::move(node));
  link(id);
  return id;
}

std::size_t Graph::node_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, [](const auto& node) { return node.has_value(); }));
}

void Graph::set_outputs(std::vector<ValueId> outputs) {
  outputs_ = std::move(outputs);
  extents_.clear();
}

std::span<const ValueId> Graph::data_outputs() const {
  std::size_t end = outputs_.size();
  for (const Extent& extent : extents_) end = std::min(end, extent.count);
  return outputs().first(end);
}

bool Graph::is_output(ValueId id) const { return std::ranges::find(outputs_, id) != outputs_.end(); }

bool Graph::is_input(ValueId id) const { return std::ranges::find(inputs_, id) != inputs_.end(); }

std::vector<NodeId> Graph::order() const {
  std::vector<NodeId> sorted;
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(nodes_.size(), kNew);
  // Depth first with an explicit stack: exported graphs may be thousands of nodes deep.
  std::vector<std::pair<NodeId, std::size_t>> stack;
  for (std::size_t root = 0; root < nodes_.size(); ++root) {
    if (!nodes_[root] || state[root] != kNew) continue;
    stack.emplace_back(static_cast<NodeId>(root), 0);
    state[root] = kOpen;
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& current = node(id);
      if (next == current.inputs.size()) {
        state[static_cast<std::size_t>(id)] = kDone;
        sorted.push_back(id);
        stack.pop_back();
        continue;
      }
      const ValueId input = current.inputs[next++];
      const NodeId before = input == ValueId::kNone ? NodeId::kNone : value(input).producer;
      if (!alive(before) || state[static_cast<std::size_t>(before)] == kDone) continue;
      if (state[static_cast<std::size_t>(before)] == kOpen)
        fail(ErrorCode::kInvalidFile, "node '{}' ({}) depends on its own output", current.name, current.op);
      state[static_cast<std::size_t>(before)] = kOpen;
      stack.emplace_back(before, 0);
    }
  }
  return sorted;
}

const Node* Graph::producer(ValueId id) const {
  if (id == ValueId::kNone) return nullptr;
  const NodeId made_by = value(id).producer;
  return alive(made_by) ? &node(made_by) : nullptr;
}

const Tensor* Graph::constant(ValueId id) const {
  if (id == ValueId::kNone) return nullptr;
  const Value& found = value(id);
  return found.constant ? &*found.constant : nullptr;
}

void Graph::release_unread_constants() {
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (users_[i].empty() && !is_output(static_cast<ValueId>(i))) values_[i].constant.reset();
}

void Graph::link(NodeId id) {
  for (ValueId input : node(id).inputs) {
    if (input == ValueId::kNone) continue;
    auto& readers = users_[static_cast<std::size_t>(input)];
    readers.insert(readers.end(), id);
  }
}

void Graph::unlink(NodeId id) {
  for (ValueId input : node(id).inputs)
    if (input != ValueId::kNone) users_[static_cast<std::size_t>(input)].erase(id);
}

void Graph::remove_if_dead(NodeId id) {
  std::vector<NodeId> pending{id};
  while (!pending.empty()) {
    const NodeId candidate = pending.back();
    pending.pop_back();
    if (!alive(candidate)) continue;
    const bool used = std::ranges::any_of(node(candidate).outputs, [&](ValueId output) {
      return output != ValueId::kNone && (!users_[static_cast<std::size_t>(output)].empty() || is_output(output));
    });
    if (used) continue;
    unlink(candidate);
    for (ValueId input : node(candidate).inputs)
      if (input != ValueId::kNone && value(input).producer != NodeId::kNone) pending.push_back(value(input).producer);
    nodes_[static_cast<std::size_t>(candidate)].reset();
  }
}

}  // namespace saccade
