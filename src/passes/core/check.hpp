#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Runs one graph again and again by the reference interpreter while it is rewritten, on the same inputs.
class ResultCheck {
 public:
  /// GIVEN holds inputs by name; the others are drawn at random. Runs the graph for its first outputs.
  ResultCheck(const Graph& graph, std::map<std::string, Tensor> given);
  /// The name of the output that differs most from the last run, and by how much of its spread (largest minus smallest
  /// element; infinite where one is not a number and the other is).
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
