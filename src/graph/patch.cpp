#include "graph/patch.hpp"

#include <algorithm>

namespace saccade {

ValueId Patch::add_constant(std::string name, Tensor tensor) {
  const ValueId id = next();
  Value value{.name = std::move(name), .type = {tensor.dtype(), tensor.shape()}};
  value.constant = std::move(tensor);
  values_.push_back(std::move(value));
  return id;
}

ValueId Patch::add_value(std::string name, TensorType type, Layout layout) {
  const ValueId id = next();
  values_.push_back({.name = std::move(name), .type = type, .layout = layout});
  return id;
}

ValueId Patch::add_node_with_output(Node node, TensorType type, Layout layout) {
  const ValueId output = add_value(node.name, type, layout);
  node.outputs = {output};
  add_node(std::move(node));
  return output;
}

std::vector<NodeId> Graph::apply(const Patch& patch) {
  SACCADE_ASSERT(patch.first_ == values_.size());
  for (const Value& value : patch.values_) {
    values_.push_back(value);
    users_.emplace_back();
  }
  std::vector<NodeId> suspects = patch.dropped_;
  const auto suspect = [&](ValueId id) {
    if (id != ValueId::kNone && value(id).producer != NodeId::kNone) suspects.push_back(value(id).producer);
  };
  for (const auto& [old, replacement] : patch.outputs_) {
    std::ranges::replace(outputs_, old, replacement);
    std::swap(value(old).name, value(replacement).name);
    suspect(old);
  }
  // Readers move before the patch's own nodes are added, which may read what they replace.
  for (const auto& [old, replacement] : patch.replaced_) move_readers(old, replacement);
  std::vector<NodeId> added;
  for (const Node& node : patch.nodes_) added.push_back(add_node(node));
  for (const auto& [old, replacement] : patch.replaced_) suspect(old);
  for (const auto& [id, inputs] : patch.rewired_) {
    unlink(id);
    for (ValueId input : node(id).inputs) suspect(input);
    node(id).inputs = inputs;
    link(id);
  }
  for (const auto& [id, layout] : patch.layouts_) value(id).layout = layout;
  for (NodeId id : suspects) remove_if_dead(id);
  return added;
}

void Graph::move_readers(ValueId old, ValueId replacement) {
  if (old == replacement) return;
  auto& readers = users_[static_cast<std::size_t>(old)];
  for (NodeId user : readers) std::ranges::replace(node(user).inputs, old, replacement);
  users_[static_cast<std::size_t>(replacement)].merge(readers);
  readers.clear();
  if (!is_output(old)) return;
  std::ranges::replace(outputs_, old, replacement);
  // Graph outputs keep their names: the replaced value gets the replacement's name.
  std::swap(value(old).name, value(replacement).name);
}

}  // namespace saccade
