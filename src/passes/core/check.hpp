#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Runs a graph with the reference interpreter on fixed inputs while it is rewritten, and compares the outputs.
class ResultCheck {
 public:
  /// GIVEN has inputs by name; the others are random. Runs the graph for its first outputs.
  ResultCheck(const Graph& graph, std::map<std::string, Tensor> given);
  /// The output that differs most from the previous run, relative to its spread (largest minus smallest element);
  /// infinite if only one of two elements is a number.
  struct Difference {
    std::string output;
    double spreads = 0;
  };
  Difference run_again(const Graph& graph);

 private:
  std::list<std::vector<std::uint8_t>> frames_;  ///< pixels of the frames among the inputs
  std::map<std::string, Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

}  // namespace saccade
