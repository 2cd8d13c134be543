#include "runtime/tuning/step_compiler.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace saccade {

NodeContext StepCompiler::context_of(std::size_t step) const {
  const Graph& graph = plan_.graph();
  return {.graph = graph,
          .node = graph.node(plan_.steps()[step].node),
          .threads = plan_.threads(),
          .storage = &plan_.storage()};
}

std::string StepCompiler::fingerprint_of(std::size_t step) const {
  const NodeContext context = context_of(step);
  return node_fingerprint(context.graph, context.node, context.storage);
}

const Tactic& StepCompiler::tactic_of(const TacticChoice& choice) const {
  const auto tactics = backend_.tactics();
  return **std::ranges::find(tactics, choice.tactic, &Tactic::name);
}

std::unique_ptr<const Launch> StepCompiler::launch_of(std::size_t step, const TacticChoice& choice) const {
  NodeContext context = context_of(step);
  context.configuration = choice.configuration;
  return tactic_of(choice).compile(context);
}

std::vector<Step> StepCompiler::replace(std::vector<Step> steps, std::span<const std::size_t> at,
                                        const TacticChoice& choice) const {
  in_parallel(at.size(), backend_.compile_threads(), [&](std::size_t i) {
    Step& step = steps[at[i]];
    step.tactic = &tactic_of(choice);
    step.configuration = choice.configuration;
    step.launch = launch_of(at[i], choice);
  });
  return steps;
}

}  // namespace saccade
