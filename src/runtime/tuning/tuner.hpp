#pragma once

#include <chrono>
#include <functional>

#include "runtime/plan.hpp"

namespace saccade {

/// Progress of tuning.
struct TuneProgress {
  double share = 0;  ///< 0 to 1
  std::chrono::nanoseconds left{};
};

struct TuneOptions {
  CompileOptions compile;           ///< node classes with a choice are not tuned again
  int passes = 2;                   ///< over all node classes; 0: nothing is tuned
  std::size_t configurations = 16;  ///< at most, per tactic
  std::size_t neighbours = 8;       ///< further configurations of the fastest tactic, from the second pass on
  std::function<void(const TuneProgress&)> on_progress;  ///< on the calling thread
};

struct TuneReport {
  TacticChoices measured;  ///< for the node classes that were tuned
  TacticChoices choices;   ///< for all node classes in the tuned plan
  KernelImages images;     ///< of all launches of the tuned plan
  int node_classes = 0;    ///< with more than one candidate
  int candidates = 0;
  int rejected = 0;                   ///< candidates that failed or returned wrong outputs
  std::chrono::nanoseconds before{};  ///< of a run on the device with the first tactic of every node
  std::chrono::nanoseconds after{};
};

/// Tunes a lowered graph for BACKEND: selects tactic and configuration per node class (node_fingerprint()). Every
/// tactic that supports the class is compiled in its most promising configurations, compared with the reference kernel
/// on random inputs, and timed in place, inside the whole plan, the most expensive classes first. After a pass, the
/// fastest tactic is queried for neighbours of its configuration. Nothing is tuned if the device has no clock for it.
/// Throws Error.
TuneReport tune(Graph graph, const Backend& backend, const TuneOptions& options);

}  // namespace saccade
