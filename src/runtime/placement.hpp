#pragma once

#include <functional>
#include <vector>

#include "runtime/value_links.hpp"

namespace saccade {

/// Where every value of a graph lies: a value that is a part of another one, or of which another is a part, may share
/// its memory, a part's elements being further apart than its shape says. Nothing then moves them.
class Places {
 public:
  /// Whether a node can run with its operands where PLACES has them.
  using Accepts = std::function<bool(NodeId node, const Places& places)>;

  /// Every value by itself and dense, but for free views (is_free_view()).
  explicit Places(const Graph& graph);
  /// Then, one after the other, what a Slice, Split, Transpose, Reshape or Reorder makes as a view of its input, and
  /// each input of a Concat written where the Concat has it, wherever those that read and write the memory in question
  /// accept it. What is the graph's input or output stays dense, and constants stay where they are. Asks only about
  /// nodes that any such step concerns.
  void share(const Accepts& accepts);

  const Place& of(ValueId id) const { return places_[static_cast<std::size_t>(id)]; }
  /// Whether it lies in memory that it would not lie in by itself.
  bool has_moved(ValueId id) const { return of(id).root != own_[static_cast<std::size_t>(id)]; }
  /// Whether both values of a link lie where it says.
  bool holds(const ValueLink& link) const;
  /// Whether all that the node would move lies in its place: it is no launch.
  bool is_free(const Node& node) const;

 private:
  void view_outputs(const Node& node, const Accepts& accepts);
  void place_inputs(const Node& concat, const Accepts& accepts);
  void try_link(const ValueLink& link, std::span<const ValueLink> others, const Accepts& accepts);
  bool locate(const ValueLink& link);
  bool accept(const std::vector<ValueId>& values, const Accepts& accepts) const;
  bool may_hold(ValueId id) const;
  bool may_move(ValueId id) const;
  std::vector<ValueId> family_of(ValueId id) const;
  void add_link(const ValueLink& link);
  std::int64_t elements_of(ValueId id) const;

  const Graph& graph_;
  std::vector<Place> places_;                  // by value
  std::vector<ValueId> own_;                   // by value: its root as long as nothing is shared
  std::vector<std::vector<ValueLink>> links_;  // by value: to those that share its memory
};

}  // namespace saccade
