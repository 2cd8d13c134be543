#include "runtime/tuning/candidates.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "base/log.hpp"
#include "base/parallel.hpp"

namespace saccade {
namespace {

bool is_possible(const Tactic& tactic, const NodeContext& context) {
  return tactic.supports(context) && (!context.has_aliased_operands() || tactic.supports_strided_operands(context));
}

/// Whether the tactic supports all nodes of the class, some of which may have aliased operands.
bool is_possible(const StepCompiler& compiler, const TacticChoice& choice, const NodeClass& node_class) {
  const Tactic& tactic = compiler.tactic_of(choice);
  return std::ranges::all_of(node_class.steps,
                             [&](std::size_t step) { return is_possible(tactic, compiler.context_of(step)); });
}

/// The candidates for the node class of a step, the tactic of the step first.
std::vector<Candidate> candidates_of(const StepCompiler& compiler, std::size_t step, std::size_t configurations) {
  const NodeContext context = compiler.context_of(step);
  std::vector<Candidate> candidates;
  for (const Tactic* tactic : compiler.backend().tactics()) {
    if (!tactic->competes() || !is_possible(*tactic, context)) continue;
    std::vector<std::string> names = tactic->configurations(context, configurations);
    if (names.empty()) names.emplace_back();
    for (std::string& name : names) candidates.push_back({{std::string(tactic->name()), std::move(name)}, {}});
  }
  const std::string_view chosen = compiler.plan().steps()[step].tactic->name();
  std::stable_partition(candidates.begin(), candidates.end(),
                        [&](const Candidate& each) { return each.choice.tactic == chosen; });
  return candidates;
}

/// Nodes by fingerprint, with the candidates of each class's first node.
std::vector<NodeClass> group_by_fingerprint(const StepCompiler& compiler, const TuneOptions& options) {
  const TacticChoices* known = options.compile.choices;
  const std::vector<Step>& steps = compiler.plan().steps();
  std::vector<NodeClass> classes;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].launch) continue;
    const std::string fingerprint = compiler.fingerprint_of(i);
    if (known != nullptr && known->contains(fingerprint)) continue;
    const auto [place, is_new] = places.emplace(fingerprint, classes.size());
    if (is_new)
      classes.push_back({.fingerprint = fingerprint, .candidates = candidates_of(compiler, i, options.configurations)});
    classes[place->second].steps.push_back(i);
  }
  return classes;
}

/// The reason why nodes with aliased operands, which need other kernels, can't be compiled; empty if they can. The
/// backend then has these kernels cached when they are timed, one after the other.
std::string rejection_with_aliasing(const StepCompiler& compiler, const NodeClass& node_class,
                                    const TacticChoice& choice) {
  try {
    for (std::size_t step : node_class.steps)
      if (compiler.context_of(step).has_aliased_operands()) static_cast<void>(compiler.launch_of(step, choice));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void check_candidate(const StepCompiler& compiler, const NodeClass& node_class, Candidate& candidate) {
  candidate.rejection = node_class.check->rejection(candidate.choice, compiler.plan().threads());
  if (candidate.rejection.empty())
    candidate.rejection = rejection_with_aliasing(compiler, node_class, candidate.choice);
  candidate.is_checked = true;
}

/// Removes the rejected candidates and logs why. Returns their number.
int erase_rejected(std::vector<NodeClass>& classes) {
  std::size_t rejected = 0;
  for (NodeClass& node_class : classes)
    rejected += std::erase_if(node_class.candidates, [&](const Candidate& candidate) {
      if (candidate.rejection.empty()) return false;
      log(LogLevel::kInfo, "tuning: {} {} is rejected: {}", candidate.choice.tactic, candidate.choice.configuration,
          candidate.rejection);
      return true;
    });
  std::erase_if(classes, [](const NodeClass& node_class) { return node_class.candidates.empty(); });
  return static_cast<int>(rejected);
}

}  // namespace

std::vector<NodeClass> collect_node_classes(const StepCompiler& compiler, const TuneOptions& options) {
  std::vector<NodeClass> classes = group_by_fingerprint(compiler, options);
  for (NodeClass& node_class : classes)
    std::erase_if(node_class.candidates,
                  [&](const Candidate& each) { return !is_possible(compiler, each.choice, node_class); });
  std::erase_if(classes, [](const NodeClass& node_class) { return node_class.candidates.size() < 2; });
  for (NodeClass& node_class : classes) {
    for (const Candidate& each : node_class.candidates)
      node_class.seen.emplace(each.choice.tactic, each.choice.configuration);
    const NodeContext context = compiler.context_of(node_class.steps.front());
    node_class.check = std::make_unique<CandidateCheck>(context.graph, context.node, compiler.backend(),
                                                        node_class.candidates.back().choice);
  }
  return classes;
}

std::size_t count_candidates(const std::vector<NodeClass>& classes) {
  std::size_t count = 0;
  for (const NodeClass& node_class : classes) count += node_class.candidates.size();
  return count;
}

int check_candidates(const StepCompiler& compiler, std::vector<NodeClass>& classes, ProgressCounter& progress) {
  std::vector<std::pair<NodeClass*, Candidate*>> jobs;
  for (NodeClass& node_class : classes)
    for (Candidate& candidate : node_class.candidates)
      if (!candidate.is_checked) jobs.emplace_back(&node_class, &candidate);
  const auto caller = std::this_thread::get_id();
  std::atomic<std::size_t> done = 0;
  in_parallel(jobs.size(), compiler.backend().compile_threads(), [&](std::size_t i) {
    check_candidate(compiler, *jobs[i].first, *jobs[i].second);
    ++done;
    if (std::this_thread::get_id() == caller) progress.report(done);
  });
  progress.advance(jobs.size());
  return erase_rejected(classes);
}

int add_neighbours(const StepCompiler& compiler, std::vector<NodeClass>& classes, std::size_t count) {
  int added = 0;
  for (NodeClass& node_class : classes) {
    const TacticChoice best = node_class.candidates[node_class.chosen].choice;
    NodeContext context = compiler.context_of(node_class.steps.front());
    context.configuration = best.configuration;
    for (std::string& name : compiler.tactic_of(best).configurations(context, count)) {
      if (!node_class.seen.emplace(best.tactic, name).second) continue;
      node_class.candidates.push_back({{best.tactic, std::move(name)}, {}});
      ++added;
    }
  }
  return added;
}

}  // namespace saccade
