#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/plan.hpp"

namespace saccade {

/// Selects the tactic of every node of a lowered graph: the requested one, else the measured one, else the first that
/// supports the node. All arguments outlive it. One thread.
class TacticSelector {
 public:
  TacticSelector(const Graph& graph, const Backend& backend, const CompileOptions& options, int threads,
                 MemoryBudget& budget);

  /// The nodes in execution order; a node's position is its step.
  const std::vector<NodeId>& order() const { return order_; }
  NodeContext context(NodeId id, const StorageAliasing* storage) const;
  /// Whether the tactic that the node gets with dense operands also supports them as STORAGE has them.
  bool supports_aliasing(std::size_t step, const StorageAliasing& storage);
  /// Sets tactic, configuration and refusals of the step. Throws Error (kInvalidArgument, kUnsupported) if no tactic,
  /// or not the requested one, supports the node; it then names all such nodes from this one on.
  void select(Step& step, std::size_t at, const StorageAliasing& storage) const;

 private:
  const Tactic* preferred(std::size_t step) const;
  bool is_requested(std::size_t step) const;
  bool may_use(const Tactic& tactic, std::size_t step) const;
  bool select_measured(Step& step, const NodeContext& context) const;
  [[noreturn]] void reject_requested(const NodeContext& context, const std::string& requested) const;
  [[noreturn]] void reject(std::size_t first, const StorageAliasing& storage) const;
  bool is_supported(NodeId id, std::vector<std::string>& reasons) const;

  const Graph& graph_;
  const Backend& backend_;
  const CompileOptions& options_;
  int threads_;
  MemoryBudget& budget_;
  std::vector<NodeId> order_;
  std::vector<std::optional<const Tactic*>> preferred_;  // by step; nullopt: not queried yet
};

}  // namespace saccade
