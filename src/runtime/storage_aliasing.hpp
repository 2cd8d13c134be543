#pragma once

#include <functional>
#include <vector>

#include "runtime/storage_alias.hpp"

namespace saccade {

/// The storage of every value of a graph. Values that are slices, transposes or parts of others may share their
/// storage; the node that relates them then copies nothing.
class StorageAliasing {
 public:
  /// Whether the node's tactic supports its operands as STORAGE has them.
  using Accepts = std::function<bool(NodeId node, const StorageAliasing& storage)>;

  /// Every value has its own dense storage, except for free views (is_free_view()).
  explicit StorageAliasing(const Graph& graph);
  /// Turns the outputs of Slice, Split, Transpose, Reshape and Reorder into views of their input, and the inputs of
  /// Concat into views of its output, one after the other, if all producers and readers of the affected storage accept
  /// it. Graph inputs and outputs stay dense; constants are not moved. Queries only nodes that a step affects.
  void share(const Accepts& accepts);

  const StorageView& of(ValueId id) const { return views_[static_cast<std::size_t>(id)]; }
  /// Whether share() moved the value into another value's storage.
  bool is_aliased(ValueId id) const { return of(id).root != own_[static_cast<std::size_t>(id)]; }
  /// Whether PART is the view of BASE that ALIAS describes.
  bool holds(const StorageAlias& alias) const;
  /// Whether the node needs no launch, because its outputs are views of its inputs or the reverse.
  bool is_free(const Node& node) const;

 private:
  void alias_outputs(const Node& node, const Accepts& accepts);
  void alias_inputs(const Node& concat, const Accepts& accepts);
  void try_alias(const StorageAlias& alias, std::span<const StorageAlias> others, const Accepts& accepts);
  bool locate(const StorageAlias& alias);
  bool accept(const std::vector<ValueId>& values, const Accepts& accepts) const;
  bool may_hold(ValueId id) const;
  bool may_move(ValueId id) const;
  std::vector<ValueId> group_of(ValueId id) const;
  void add_alias(const StorageAlias& alias);
  std::int64_t elements_of(ValueId id) const;

  const Graph& graph_;
  std::vector<StorageView> views_;                  // by value
  std::vector<ValueId> own_;                        // by value: its root before share()
  std::vector<std::vector<StorageAlias>> aliases_;  // by value: those in effect
};

}  // namespace saccade
