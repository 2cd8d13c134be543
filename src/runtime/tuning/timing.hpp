#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/runner.hpp"
#include "runtime/tuning/candidates.hpp"

namespace saccade {

/// Fills a runner's inputs with random numbers for timed runs. The runner must not run after this is destroyed.
class RandomInputs {
 public:
  void fill(Runner& runner, const Graph& graph);

 private:
  std::vector<std::byte> pixels_;
};

/// The median time of a run with STEPS, in nanoseconds.
double time_steps(Runner& runner, std::span<const Step> steps);

/// Times the candidates of the class in place, inside STEPS, and records the median of those near the best. The class's
/// choice and STEPS become the fastest; the incumbent stays if that gains less than MIN_GAIN. Throws Error.
void time_candidates(const StepCompiler& compiler, Runner& runner, NodeClass& node_class, std::vector<Step>& steps,
                     double min_gain, ProgressCounter& progress);

/// Of a run with the incumbents and with what was chosen, in nanoseconds.
struct RunTimes {
  double before = 0;
  double after = 0;
};

/// The same for all CLASSES at once, on a device that times each launch: a variant of the plan has the first candidate
/// of every class, the next one the second, and so on. Other work of the machine delays some runs, so that the least
/// time of each launch counts. Each incumbent is the first candidate of its class.
RunTimes time_candidates_by_launch(const StepCompiler& compiler, Runner& runner, std::vector<NodeClass>& classes,
                                   std::vector<Step>& steps, double min_gain, ProgressCounter& progress);

}  // namespace saccade
