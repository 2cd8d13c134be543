#include "passes/core/manager.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "graph/verify.hpp"
#include "passes/core/check.hpp"

namespace saccade {
namespace {

/// Patches per node; a pass that exceeds them undoes its own work.
constexpr std::int64_t kMaxPatchesPerNode = 20;
/// Of half precision over a whole network, relative to the spread of an output.
constexpr double kHalfTolerance = 0.05;

class PassRunner {
 public:
  PassRunner(Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), budget_(options.max_memory), known_(graph, &budget_) {
    for (std::size_t i = 0; i < graph.value_count(); ++i)
      if (const Tensor* constant = graph.constant(static_cast<ValueId>(i))) budget_.take(constant->bytes());
    if (!options.check) return;
    check_.emplace(graph, options.check_inputs);
    report_.check = PassCheck{.tolerance = options.tolerance};
  }

  void run(const Pass& pass) {
    PassRecord record{.name = std::string(pass.name), .nodes_before = graph_.node_count()};
    const auto start = Clock::now();
    const std::size_t first = report_.patches.size();
    patches_left_ = kMaxPatchesPerNode * static_cast<std::int64_t>(record.nodes_before + 10);
    try {
      if (const auto* local = std::get_if<LocalRewrite>(&pass.rewrite)) {
        while (sweep(pass, *local)) {
        }
      } else {
        while (!stopped() && accept(pass, std::get<GraphRewrite>(pass.rewrite)(context()))) {
        }
      }
      verify(graph_);
    } catch (const Error& error) {
      throw error.in(fmt::format("pass {}", pass.name));
    }
    record.patches = static_cast<std::int64_t>(report_.patches.size() - first);
    record.time = Clock::now() - start;
    record.nodes_after = graph_.node_count();
    if (record.patches != 0) check_results(pass);
    report_.passes.push_back(std::move(record));
  }

  PassReport take_report() { return std::move(report_); }

 private:
  PassContext context() { return {graph_, known_, options_.target, options_.precision}; }

  bool stopped() const {
    return options_.max_patches >= 0 && static_cast<std::int64_t>(report_.patches.size()) >= options_.max_patches;
  }

  /// Offers every node to the pass once, in order. Returns whether the graph changed.
  bool sweep(const Pass& pass, LocalRewrite rewrite) {
    bool changed = false;
    for (NodeId id : graph_.order()) {
      if (stopped()) return false;
      if (graph_.alive(id)) changed |= accept(pass, rewrite(context(), id));
    }
    return changed;
  }

  /// Applies a patch, if there is one, and infers the types of its nodes.
  bool accept(const Pass& pass, const std::optional<Patch>& patch) {
    if (!patch) return false;
    report_.patches.push_back(
        {static_cast<std::int64_t>(report_.patches.size()) + 1, std::string(pass.name), patch->note()});
    if (--patches_left_ < 0) fail(ErrorCode::kInternal, "it does not come to an end ({})", patch->note());
    for (NodeId id : graph_.apply(*patch))
      if (graph_.alive(id)) set_types(graph_.node(id));
    for (const auto& [old, replacement] : patch->replaced()) {
      if (graph_.value(old).type == graph_.value(replacement).type) continue;
      const auto describe = [](const Value& v) {
        return fmt::format("{} {}", to_string(v.type.dtype), v.type.shape.to_string());
      };
      fail(ErrorCode::kInternal, "it turns '{}', {}, into {} ({})", graph_.value(old).name, describe(graph_.value(old)),
           describe(graph_.value(replacement)), patch->note());
    }
    return true;
  }

  void set_types(const Node& node) {
    const auto types = infer_node(graph_, node, known_);
    for (std::size_t i = 0; i < types.size(); ++i)
      if (node.outputs[i] != ValueId::kNone) graph_.value(node.outputs[i]).type = types[i];
  }

  void check_results(const Pass& pass) {
    if (!check_) return;
    const ResultCheck::Difference worst = check_->run_again(graph_);
    const double tolerance = pass.widens ? std::max(kHalfTolerance, options_.tolerance) : options_.tolerance;
    if (worst.spreads > tolerance)
      fail(ErrorCode::kInternal,
           "pass {} changes output '{}' by {:.3g} of its spread (tolerance {:.3g}); leave it out with "
           "--disable-pass {}",
           pass.name, worst.output, worst.spreads, tolerance, pass.name);
    note_difference(pass, worst, tolerance);
  }

  void note_difference(const Pass& pass, const ResultCheck::Difference& worst, double tolerance) {
    PassCheck& check = *report_.check;
    ++check.compared;
    if (worst.spreads <= check.largest) return;
    check.largest = worst.spreads;
    check.pass = pass.name;
    check.output = worst.output;
    check.tolerance = tolerance;
  }

  Graph& graph_;
  const PassOptions& options_;
  MemoryBudget budget_;
  KnownValues known_;
  std::optional<ResultCheck> check_;
  PassReport report_;
  std::int64_t patches_left_ = 0;
};

void check_names(const PassNames& names) {
  const std::vector<std::string> known = pass_names();
  for (const std::string& name : names)
    if (std::ranges::find(known, name) == known.end())
      fail(ErrorCode::kInvalidArgument, "there is no pass '{}'; the passes are {}", name, fmt::join(known, ", "));
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : pipeline())
    if (std::ranges::find(names, pass.name) == names.end()) names.emplace_back(pass.name);
  return names;
}

PassNames passes_except(const PassNames& kept) {
  check_names(kept);
  PassNames others;
  for (std::string& name : pass_names())
    if (!kept.contains(name)) others.insert(std::move(name));
  return others;
}

PassNames passes_from(std::string_view first) {
  const auto passes = pipeline();
  PassNames names;
  for (auto pass = std::ranges::find(passes, first, &Pass::name); pass != passes.end(); ++pass)
    names.emplace(pass->name);
  return names;
}

PassReport run_passes(Graph& graph, const PassOptions& options) {
  check_names(options.disabled);
  verify(graph);
  PassRunner runner(graph, options);
  if (options.on_graph) options.on_graph("", graph);
  for (const Pass& pass : pipeline()) {
    if (options.disabled.contains(pass.name)) continue;
    runner.run(pass);
    if (options.on_graph) options.on_graph(pass.name, graph);
  }
  graph.release_unread_constants();
  return runner.take_report();
}

ReportText print_patches(const PassReport& report) {
  ReportText text;
  for (const PatchRecord& patch : report.patches) text.add("#{} {}: {}\n", patch.number, patch.pass, patch.note);
  return text;
}

}  // namespace saccade
