#include "runtime/placement.hpp"

#include <algorithm>
#include <set>

#include "runtime/tactic.hpp"

// Values that share memory are tied by links: one of them, the root, has memory of its own, and where it lies says
// where all others do. A step adds a link between two such families, works out again where the values of one lie, and
// asks those that read or write them; if one refuses, the link goes again.
namespace saccade {
namespace {

// Each step looks at a family as a whole: in a graph made so, larger ones would take minutes.
constexpr std::size_t kMaxFamily = 1024;
// Kernels count the elements of whatever they reach into in 32 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

bool is_countable(DType dtype) { return dtype != DType::kString && dtype != DType::kFrame && bits_of(dtype) % 8 == 0; }

}  // namespace

Places::Places(const Graph& graph) : graph_(graph), places_(graph.value_count()), links_(graph.value_count()) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const Value& value = graph.value(id);
    places_[i] = {.root = id, .strides = dense_strides(value.type.shape, value.layout)};
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_free_view(graph, node)) continue;
    const ValueLink link = links_of(graph, node).front();
    places_[index(link.part)].root = of(link.base).root;
    add_link(link);
  }
  for (const Place& place : places_) own_.push_back(place.root);
}

bool Places::holds(const ValueLink& link) const {
  const std::optional<Place> place = link.place_of_part(graph_, of(link.base));
  return place && same_place(*place, of(link.part), graph_.value(link.part).type.shape);
}

bool Places::is_free(const Node& node) const {
  const std::vector<ValueLink> links = links_of(graph_, node);
  const auto moves_nothing = [&](const ValueLink& link) { return elements_of(link.part) == 0 || holds(link); };
  return !links.empty() && std::ranges::all_of(links, moves_nothing);
}

void Places::share(const Accepts& accepts) {
  const std::vector<NodeId> order = graph_.order();
  for (NodeId id : order)
    if (const Node& node = graph_.node(id); !node.is("Concat") && !is_free(node)) view_outputs(node, accepts);
  for (NodeId id : order)
    if (const Node& node = graph_.node(id); node.is("Concat")) place_inputs(node, accepts);
}

/// Elements in another order than they were written in are slow to read: one copy is better than two readers of them.
void Places::view_outputs(const Node& node, const Accepts& accepts) {
  for (const ValueLink& link : links_of(graph_, node)) {
    const bool reorders = link.kind != ValueLink::Kind::kBox;
    if (reorders && graph_.users(link.part).size() > 1) continue;
    if (may_hold(link.base) && may_move(link.part)) try_link(link, {}, accepts);
  }
}

/// Family by family: what shares an input's memory moves along with it. The whole of that memory must be inputs that
/// come to lie where the output has them, or it would reach into the parts of others.
void Places::place_inputs(const Node& concat, const Accepts& accepts) {
  const std::vector<ValueLink> links = links_of(graph_, concat);
  if (links.empty() || !may_hold(links.front().base)) return;
  std::set<ValueId> tried{of(links.front().base).root};
  for (const ValueLink& link : links) {
    const ValueId root = of(link.part).root;
    if (!tried.insert(root).second || !may_move(link.part)) continue;
    std::vector<ValueLink> others;
    for (const ValueLink& other : links)
      if (&other != &link && of(other.part).root == root) others.push_back(other);
    try_link(link, others, accepts);
  }
}

/// Adds LINK, so that its part's family lies in its base's memory, and those of OTHERS that then hold. Not where no
/// strides say where a value lies, where these links leave some of the family's memory out, or where a node refuses.
void Places::try_link(const ValueLink& link, std::span<const ValueLink> others, const Accepts& accepts) {
  const std::vector<ValueId> moving = family_of(link.part);
  if (moving.size() + family_of(link.base).size() > kMaxFamily) return;
  const std::int64_t memory = elements_of(of(link.part).root);
  std::vector<Place> before;
  for (ValueId id : moving) before.push_back(of(id));
  add_link(link);
  if (locate(link)) {
    std::vector<ValueLink> held;
    std::ranges::copy_if(others, std::back_inserter(held), [&](const ValueLink& other) { return holds(other); });
    std::int64_t covered = elements_of(link.part);
    for (const ValueLink& other : held) covered += elements_of(other.part);
    if (covered == memory && accept(moving, accepts)) {
      for (const ValueLink& other : held) add_link(other);
      return;
    }
  }
  for (ValueId end : {link.base, link.part}) links_[index(end)].pop_back();
  for (std::size_t i = 0; i < moving.size(); ++i) places_[index(moving[i])] = before[i];
}

/// Works out where LINK's part and all of its family lie, from where its base does. False: no strides say so, and some
/// places are wrong now.
bool Places::locate(const ValueLink& link) {
  std::set<ValueId> located{link.base};
  std::vector<ValueId> open;
  const auto put = [&](ValueId id, const std::optional<Place>& place) {
    if (!place || !located.insert(id).second) return false;
    places_[index(id)] = *place;
    open.push_back(id);
    return true;
  };
  if (!put(link.part, link.place_of_part(graph_, of(link.base)))) return false;
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    for (const ValueLink& each : links_[index(id)]) {
      const ValueId other = each.base == id ? each.part : each.base;
      if (located.contains(other)) {
        if (!holds(each)) return false;
      } else if (!put(other,
                      each.base == id ? each.place_of_part(graph_, of(id)) : each.place_of_base(graph_, of(id)))) {
        return false;
      }
    }
  }
  return true;
}

/// Whether all that read or write VALUES, and move anything, take them as they lie.
bool Places::accept(const std::vector<ValueId>& values, const Accepts& accepts) const {
  std::set<NodeId> nodes;
  for (ValueId id : values) {
    if (graph_.alive(graph_.value(id).producer)) nodes.insert(graph_.value(id).producer);
    nodes.insert(graph_.users(id).begin(), graph_.users(id).end());
  }
  return std::ranges::all_of(nodes, [&](NodeId id) { return is_free(graph_.node(id)) || accepts(id, *this); });
}

/// Whether parts of other values may lie in the memory of ID.
bool Places::may_hold(ValueId id) const {
  const ValueId root = of(id).root;
  const std::int64_t elements = elements_of(root);
  return graph_.constant(root) == nullptr && is_countable(graph_.value(root).type.dtype) && elements > 0 &&
         elements < kMaxElements;
}

/// Whether the memory that ID lies in may become a part of another's.
bool Places::may_move(ValueId id) const {
  if (!may_hold(id) || elements_of(id) == 0) return false;
  return std::ranges::none_of(family_of(id),
                              [&](ValueId each) { return graph_.is_input(each) || graph_.is_output(each); });
}

/// All that share its memory; of more than kMaxFamily some.
std::vector<ValueId> Places::family_of(ValueId id) const {
  std::set<ValueId> found{id};
  std::vector<ValueId> family{id};
  for (std::size_t i = 0; i < family.size() && i <= kMaxFamily; ++i)
    for (const ValueLink& link : links_[index(family[i])])
      for (ValueId end : {link.base, link.part})
        if (found.insert(end).second) family.push_back(end);
  return family;
}

void Places::add_link(const ValueLink& link) {
  for (ValueId end : {link.base, link.part}) links_[index(end)].push_back(link);
}

std::int64_t Places::elements_of(ValueId id) const { return graph_.value(id).type.shape.elements(); }

Place NodeContext::place_of(ValueId id) const {
  if (places != nullptr) return places->of(id);
  const Value& value = graph.value(id);
  return {.root = id, .strides = dense_strides(value.type.shape, value.layout)};
}

bool NodeContext::shares_memory() const {
  const auto moved = [&](ValueId id) { return places != nullptr && id != ValueId::kNone && places->has_moved(id); };
  return std::ranges::any_of(node.inputs, moved) || std::ranges::any_of(node.outputs, moved);
}

}  // namespace saccade
