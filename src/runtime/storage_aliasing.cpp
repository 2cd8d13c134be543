#include "runtime/storage_aliasing.hpp"

#include <algorithm>
#include <set>

// Values connected by aliases form a group. One of them, the root, owns the storage; the views of all others follow
// from it. A step adds an alias between two groups, recomputes the views of one, and queries the tactics of all nodes
// that read or write them. If one does not support its operands, the step is undone.
namespace saccade {
namespace {

// Each step visits the whole group: a hostile graph with larger groups would take minutes.
constexpr std::size_t kMaxGroup = 1024;
// Kernels index a storage with 32 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

bool is_countable(DType dtype) { return dtype != DType::kString && dtype != DType::kFrame && bits_of(dtype) % 8 == 0; }

}  // namespace

StorageAliasing::StorageAliasing(const Graph& graph)
    : graph_(graph), views_(graph.value_count()), aliases_(graph.value_count()) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph.value(id);
    views_[i] = {.root = id, .strides = dense_strides(value.type.shape, value.layout)};
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_free_view(graph, node)) continue;
    const StorageAlias alias = storage_aliases(graph, node).front();
    views_[index(alias.part)].root = of(alias.base).root;
    add_alias(alias);
  }
  for (const StorageView& view : views_) own_.push_back(view.root);
}

bool StorageAliasing::holds(const StorageAlias& alias) const {
  const std::optional<StorageView> view = alias.storage_of_part(graph_, of(alias.base));
  return view && same_storage(*view, of(alias.part), graph_.value(alias.part).type.shape);
}

bool StorageAliasing::is_free(const Node& node) const {
  const std::vector<StorageAlias> aliases = storage_aliases(graph_, node);
  const auto moves_nothing = [&](const StorageAlias& alias) { return elements_of(alias.part) == 0 || holds(alias); };
  return !aliases.empty() && std::ranges::all_of(aliases, moves_nothing);
}

void StorageAliasing::share(const Accepts& accepts) {
  const std::vector<NodeId> order = graph_.order();
  for (NodeId id : order)
    if (const Node& node = graph_.node(id); !node.is("Concat") && !is_free(node)) alias_outputs(node, accepts);
  for (NodeId id : order)
    if (const Node& node = graph_.node(id); node.is("Concat")) alias_inputs(node, accepts);
}

/// Reordered elements are slow to read: with several readers, one copy is faster.
void StorageAliasing::alias_outputs(const Node& node, const Accepts& accepts) {
  for (const StorageAlias& alias : storage_aliases(graph_, node)) {
    const bool reorders = alias.kind != StorageAlias::Kind::kBox;
    if (reorders && graph_.users(alias.part).size() > 1) continue;
    if (may_hold(alias.base) && may_move(alias.part)) try_alias(alias, {}, accepts);
  }
}

/// Group by group: all values that share an input's storage move with it. Concat's inputs must cover that storage
/// completely, each at its position in the output; otherwise the group would overlap other parts.
void StorageAliasing::alias_inputs(const Node& concat, const Accepts& accepts) {
  const std::vector<StorageAlias> aliases = storage_aliases(graph_, concat);
  if (aliases.empty() || !may_hold(aliases.front().base)) return;
  std::set<ValueId> tried{of(aliases.front().base).root};
  for (const StorageAlias& alias : aliases) {
    const ValueId root = of(alias.part).root;
    if (!tried.insert(root).second || !may_move(alias.part)) continue;
    std::vector<StorageAlias> others;
    for (const StorageAlias& other : aliases)
      if (&other != &alias && of(other.part).root == root) others.push_back(other);
    try_alias(alias, others, accepts);
  }
}

/// Moves the group of ALIAS's part into its base's storage, and adds those of OTHERS that then hold. Does nothing if
/// strides can't express a view, if the aliases do not cover the group's storage, or if a node does not accept it.
void StorageAliasing::try_alias(const StorageAlias& alias, std::span<const StorageAlias> others,
                                const Accepts& accepts) {
  const std::vector<ValueId> moving = group_of(alias.part);
  if (moving.size() + group_of(alias.base).size() > kMaxGroup) return;
  const std::int64_t memory = elements_of(of(alias.part).root);
  std::vector<StorageView> before;
  for (ValueId id : moving) before.push_back(of(id));
  add_alias(alias);
  if (locate(alias)) {
    std::vector<StorageAlias> held;
    std::ranges::copy_if(others, std::back_inserter(held), [&](const StorageAlias& other) { return holds(other); });
    std::int64_t covered = elements_of(alias.part);
    for (const StorageAlias& other : held) covered += elements_of(other.part);
    if (covered == memory && accept(moving, accepts)) {
      for (const StorageAlias& other : held) add_alias(other);
      return;
    }
  }
  for (ValueId end : {alias.base, alias.part}) aliases_[index(end)].pop_back();
  for (std::size_t i = 0; i < moving.size(); ++i) views_[index(moving[i])] = before[i];
}

/// Computes the views of ALIAS's part and its group from its base's. False if strides can't express one; some views are
/// then wrong.
bool StorageAliasing::locate(const StorageAlias& alias) {
  std::set<ValueId> located{alias.base};
  std::vector<ValueId> open;
  const auto put = [&](ValueId id, const std::optional<StorageView>& view) {
    if (!view || !located.insert(id).second) return false;
    views_[index(id)] = *view;
    open.push_back(id);
    return true;
  };
  if (!put(alias.part, alias.storage_of_part(graph_, of(alias.base)))) return false;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    for (const StorageAlias& each : aliases_[index(id)]) {
      const ValueId other = each.base == id ? each.part : each.base;
      if (located.contains(other)) {
        if (!holds(each)) return false;
      } else if (!put(other,
                      each.base == id ? each.storage_of_part(graph_, of(id)) : each.storage_of_base(graph_, of(id)))) {
        return false;
      }
    }
  }
  return true;
}

/// Whether all nodes with a launch that read or write VALUES accept their views.
bool StorageAliasing::accept(const std::vector<ValueId>& values, const Accepts& accepts) const {
  std::set<NodeId> nodes;
  for (ValueId id : values) {
    if (graph_.alive(graph_.value(id).producer)) nodes.insert(graph_.value(id).producer);
    nodes.insert(graph_.users(id).begin(), graph_.users(id).end());
  }
  return std::ranges::all_of(nodes, [&](NodeId id) { return is_free(graph_.node(id)) || accepts(id, *this); });
}

/// Whether other values may become views of the storage of ID.
bool StorageAliasing::may_hold(ValueId id) const {
  const ValueId root = of(id).root;
  const std::int64_t elements = elements_of(root);
  return graph_.constant(root) == nullptr && is_countable(graph_.value(root).type.dtype) && elements > 0 &&
         elements < kMaxElements;
}

/// Whether the storage of ID may become a part of another one.
bool StorageAliasing::may_move(ValueId id) const {
  if (!may_hold(id) || elements_of(id) == 0) return false;
  return std::ranges::none_of(group_of(id),
                              [&](ValueId each) { return graph_.is_input(each) || graph_.is_output(each); });
}

/// All values that share its storage; stops beyond kMaxGroup.
std::vector<ValueId> StorageAliasing::group_of(ValueId id) const {
  std::set<ValueId> found{id};
  std::vector<ValueId> group{id};
  for (std::size_t i = 0; i < group.size() && i <= kMaxGroup; ++i)
    for (const StorageAlias& alias : aliases_[index(group[i])])
      for (ValueId end : {alias.base, alias.part})
        if (found.insert(end).second) group.push_back(end);
  return group;
}

void StorageAliasing::add_alias(const StorageAlias& alias) {
  for (ValueId end : {alias.base, alias.part}) aliases_[index(end)].push_back(alias);
}

std::int64_t StorageAliasing::elements_of(ValueId id) const { return graph_.value(id).type.shape.elements(); }

}  // namespace saccade
