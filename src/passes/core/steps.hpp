#pragma once

#include <string>
#include <vector>

#include "graph/patch.hpp"

namespace saccade {

/// Adds the replacement of one node to a patch: nodes with its stage, whose names extend its name.
class Steps {
 public:
  /// Both arguments outlive the steps.
  Steps(Patch& patch, const Node& replaced) : patch_(patch), replaced_(replaced) {}

  /// Adds a node with one output and returns that. NAME is appended to the replaced node's.
  ValueId add(std::string_view name, Node node);
  ValueId constant(std::string_view name, Tensor tensor);
  /// FROM transposed by ORDER.
  ValueId transpose(std::string_view name, ValueId from, std::vector<std::int64_t> order);
  /// FROM reshaped to SHAPE.
  ValueId reshape(std::string_view name, ValueId from, const Shape& shape);

 private:
  std::string named(std::string_view name) const;

  Patch& patch_;
  const Node& replaced_;
};

}  // namespace saccade
