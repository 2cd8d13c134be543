#pragma once

#include <map>
#include <vector>

#include "onnx/sizes/ranges.hpp"

namespace saccade {

/// A node some of whose sizes are known only at run time.
struct SizeQuery {
  const Graph& graph;
  KnownValues& known;
  const Ranges& ranges;
  const Node& node;
  std::vector<std::vector<bool>> open;  ///< by input: the axes along which only a part of the shape may be valid
  std::vector<std::map<int, ValueId>> counts{};  ///< by input and open axis: its count
};

/// An output: its type at full capacity, and the axes along which it may be shorter.
struct Capacity {
  TensorType type;
  std::vector<bool> open;
  std::map<int, ValueId> counts{};  ///< of open axes whose count exists already
};

/// Whether the size of an output of NODE depends on the contents of an input that are known only at run time.
bool is_sized_by_contents(KnownValues& known, const Ranges& ranges, const Node& node);

/// The capacities of the node's outputs. Throws Error naming what has no bound, or does not fit.
std::vector<Capacity> capacities_of(const SizeQuery& query);

}  // namespace saccade
