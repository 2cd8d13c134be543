#pragma once

#include <mutex>
#include <string>

#include "runtime/plan.hpp"

namespace saccade {

/// Checks candidates for one node against its reference outputs: a graph of that node alone, on random inputs.
class CandidateCheck {
 public:
  /// PLAINEST: the candidate to compare with if the reference kernel would take too long.
  CandidateCheck(const Graph& graph, const Node& node, const Backend& backend, TacticChoice plainest);

  /// Compiles the node with CHOICE and runs it on poisoned memory. Returns the rejection reason: it fails, or returns
  /// wrong outputs; empty if it is accepted. Any thread.
  std::string rejection(const TacticChoice& choice, int threads);

 private:
  std::vector<Tensor> run(const TacticChoice& choice, int threads) const;
  const std::vector<Tensor>& wanted(int threads);

  const Backend& backend_;
  Graph alone_;
  TacticChoice plainest_;
  std::map<std::string, Tensor> inputs_;
  std::once_flag once_;
  std::vector<Tensor> wanted_;
};

}  // namespace saccade
