#include "runtime/tactic_selector.hpp"

#include <algorithm>

#include "graph/print.hpp"
#include "runtime/storage_aliasing.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMaxNamedNodes = 8;  // in an error

Support supports_operands(const Tactic& tactic, const NodeContext& context) {
  Support support = tactic.supports(context);
  if (support && context.has_aliased_operands() && !tactic.supports_strided_operands(context))
    return Support::no("it does not support strided operands");
  return support;
}

/// The backend's tactics in the order in which they are tried: those that lead first.
std::vector<const Tactic*> in_order(const Backend& backend, const NodeContext& context) {
  std::vector<const Tactic*> tactics(backend.tactics().begin(), backend.tactics().end());
  std::stable_partition(tactics.begin(), tactics.end(), [&](const Tactic* tactic) { return tactic->leads(context); });
  return tactics;
}

std::string describe_reason(const Tactic& tactic, const Support& support) {
  return fmt::format("{}: {}", tactic.name(), support.reason);
}

}  // namespace

TacticSelector::TacticSelector(const Graph& graph, const Backend& backend, const CompileOptions& options, int threads,
                               MemoryBudget& budget)
    : graph_(graph),
      backend_(backend),
      options_(options),
      threads_(threads),
      budget_(budget),
      order_(graph.order()),
      preferred_(order_.size()) {}

NodeContext TacticSelector::context(NodeId id, const StorageAliasing* storage) const {
  return {.graph = graph_,
          .node = graph_.node(id),
          .threads = threads_,
          .budget = &budget_,
          .storage = storage,
          .packed = options_.packed};
}

bool TacticSelector::supports_aliasing(std::size_t step, const StorageAliasing& storage) {
  std::optional<const Tactic*>& tactic = preferred_[step];
  if (!tactic) tactic = preferred(step);
  return *tactic != nullptr && (*tactic)->supports_strided_operands(context(order_[step], &storage));
}

void TacticSelector::select(Step& step, std::size_t at, const StorageAliasing& storage) const {
  const NodeContext context = this->context(order_[at], &storage);
  if (select_measured(step, context)) return;
  for (const Tactic* tactic : in_order(backend_, context)) {
    if (!may_use(*tactic, at)) continue;
    const Support support = supports_operands(*tactic, context);
    if (support) {
      step.tactic = tactic;
      return;
    }
    if (support.concerned) step.refusals.push_back(describe_reason(*tactic, support));
  }
  if (is_requested(at)) reject_requested(context, options_.tactics[at]);
  reject(at, storage);
}

/// The tactic that the node gets if its operands are dense; null: none.
const Tactic* TacticSelector::preferred(std::size_t step) const {
  const NodeContext dense = context(order_[step], nullptr);
  const auto fits = [&](const Tactic* tactic) { return may_use(*tactic, step) && tactic->supports(dense); };
  const auto tactics = in_order(backend_, dense);
  const auto found = std::ranges::find_if(tactics, fits);
  return found != tactics.end() ? *found : nullptr;
}

bool TacticSelector::is_requested(std::size_t step) const {
  return step < options_.tactics.size() && !options_.tactics[step].empty();
}

bool TacticSelector::may_use(const Tactic& tactic, std::size_t step) const {
  return !is_requested(step) || options_.tactics[step] == tactic.name();
}

/// False if the node class was not measured, or its tactic is not available for this node.
bool TacticSelector::select_measured(Step& step, const NodeContext& context) const {
  if (options_.choices == nullptr || options_.choices->empty()) return false;
  const auto found = options_.choices->find(node_fingerprint(context.graph, context.node, context.storage));
  if (found == options_.choices->end()) return false;
  const auto tactics = backend_.tactics();
  const auto tactic = std::ranges::find(tactics, found->second.tactic, &Tactic::name);
  if (tactic == tactics.end() || !supports_operands(**tactic, context)) return false;
  step.tactic = *tactic;
  step.configuration = found->second.configuration;
  return true;
}

void TacticSelector::reject_requested(const NodeContext& context, const std::string& requested) const {
  const auto tactics = backend_.tactics();
  const auto found = std::ranges::find(tactics, requested, &Tactic::name);
  if (found == tactics.end())
    fail(ErrorCode::kInvalidArgument, "{}: the {} backend has no tactic {}: remove the choice", describe(context.node),
         backend_.name(), requested);
  fail(ErrorCode::kUnsupported, "{}: the requested tactic {} does not support it: {}", describe(context.node),
       requested, supports_operands(**found, context).reason);
}

/// Names the unsupported nodes from step FIRST on, which is one of them, with the reasons.
void TacticSelector::reject(std::size_t first, const StorageAliasing& storage) const {
  std::vector<std::string> nodes;
  std::size_t count = 0;
  for (std::size_t i = first; i < order_.size(); ++i) {
    const Node& node = graph_.node(order_[i]);
    std::vector<std::string> reasons;
    if (storage.is_free(node) || is_supported(order_[i], reasons)) continue;
    if (++count <= kMaxNamedNodes)
      nodes.push_back(describe(node) + (reasons.empty() ? "" : fmt::format(": {}", fmt::join(reasons, "; "))));
  }
  fail(ErrorCode::kUnsupported, "no tactic of the {} backend supports {}{}", backend_.name(), fmt::join(nodes, ", "),
       count > nodes.size() ? fmt::format(", and {} more", count - nodes.size()) : "");
}

bool TacticSelector::is_supported(NodeId id, std::vector<std::string>& reasons) const {
  for (const Tactic* tactic : backend_.tactics()) {
    const Support support = tactic->supports({graph_, graph_.node(id), threads_});
    if (support) return true;
    if (support.concerned) reasons.push_back(describe_reason(*tactic, support));
  }
  return false;
}

}  // namespace saccade
