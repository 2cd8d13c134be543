#pragma once

#include <chrono>
#include <functional>

#include "runtime/plan.hpp"

namespace saccade {

/// How far tuning has come.
struct TuneProgress {
  double share = 0;  ///< 0 to 1
  std::chrono::nanoseconds left{};
};

struct TuneOptions {
  CompileOptions compile;           ///< its choices are taken as they are: such nodes are not tuned again
  int passes = 2;                   ///< over all kinds; 0: nothing is tuned
  std::size_t configurations = 16;  ///< that a tactic is tried in, at most
  std::size_t near = 8;             ///< further ones of the tactic in the lead, from the second pass on
  double noise = 0.0005;            ///< what is faster by less than this share of a run is not
  std::function<void(const TuneProgress&)> on_progress;  ///< on the calling thread
};

struct TuneReport {
  TacticChoices measured;  ///< for the node classes that were tuned
  TacticChoices choices;   ///< for all node classes in the tuned plan
  KernelImages images;     ///< of all launches of the tuned plan
  int kinds = 0;           ///< of nodes between whose candidates there was a choice
  int candidates = 0;
  int rejected = 0;                   ///< candidates that failed or gave other answers
  std::chrono::nanoseconds before{};  ///< a run on the device by the first tactic of every node
  std::chrono::nanoseconds after{};
};

/// Finds out how a lowered graph runs fastest on BACKEND: nodes of a kind (node_fingerprint()) get one choice together.
/// Every tactic that supports a kind, in its most promising configurations, is compiled, compared with the reference
/// kernel on random inputs, and timed in its place: the whole plan runs with it, between its real neighbours, the
/// dearest kinds first. After a pass, the tactic in the lead is asked for configurations near its own, which stands in
/// the context that Tactic::configurations() gets. Where the device has no clock for that, nothing is tuned. Throws
/// Error.
TuneReport tune(Graph graph, const Backend& backend, const TuneOptions& options);

}  // namespace saccade
