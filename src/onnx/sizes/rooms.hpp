#pragma once

#include <map>
#include <vector>

#include "onnx/sizes/ranges.hpp"

namespace saccade {

/// A node some of whose sizes only the run knows.
struct SizeQuestion {
  const Graph& graph;
  KnownValues& known;
  const Ranges& ranges;
  const Node& node;
  std::vector<std::vector<bool>> open;           ///< by input: along which axes only a part of the shape may be filled
  std::vector<std::map<int, ValueId>> counts{};  ///< by input and open axis: what counts it
};

/// An output: its type with as much room as it can need, and along which axes it may be shorter.
struct Room {
  TensorType type;
  std::vector<bool> open;
  std::map<int, ValueId> counts{};  ///< of open axes that something counts already
};

/// Whether NODE's output has a size that depends on the contents of an input that only the run knows.
bool is_sized_by_contents(KnownValues& known, const Ranges& ranges, const Node& node);

/// The rooms of the node's outputs. Throws Error naming what has no bound, or does not fit.
std::vector<Room> rooms_of(const SizeQuestion& question);

}  // namespace saccade
