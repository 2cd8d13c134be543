#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/tuning/candidate_check.hpp"
#include "runtime/tuning/progress.hpp"
#include "runtime/tuning/step_compiler.hpp"

namespace saccade {

/// A tactic in one configuration.
struct Candidate {
  TacticChoice choice;
  std::string rejection;
  double best = 0;  ///< time of a run in the last pass, in nanoseconds
  bool is_checked = false;
};

/// Nodes with the same fingerprint.
struct NodeClass {
  std::string fingerprint;
  std::vector<std::size_t> steps;  ///< of the plan
  std::vector<Candidate> candidates;
  std::set<std::pair<std::string, std::string>> seen;  ///< tactic and configuration of all candidates so far
  std::unique_ptr<CandidateCheck> check;               ///< null when no further candidates are added
  std::size_t chosen = 0;                              ///< index of a candidate
  double cost = 0;                                     ///< time of its nodes with the first tactics, in nanoseconds
};

/// The node classes of the plan that have several candidates and no known choice. The first candidate of a class has
/// the tactic of its first node.
std::vector<NodeClass> collect_node_classes(const StepCompiler& compiler, const TuneOptions& options);
std::size_t count_candidates(const std::vector<NodeClass>& classes);

/// Compiles every new candidate, in parallel, and removes the rejected ones and the classes that then have none.
/// Returns the number of rejected candidates.
int check_candidates(const StepCompiler& compiler, std::vector<NodeClass>& classes, ProgressCounter& progress);

/// Adds at most COUNT neighbours of the best configuration of each class: pipeline stages and warp layouts that the
/// first list omits. Returns the number of added candidates.
int add_neighbours(const StepCompiler& compiler, std::vector<NodeClass>& classes, std::size_t count);

}  // namespace saccade
