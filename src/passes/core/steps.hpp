#pragma once

#include <string>
#include <vector>

#include "graph/patch.hpp"

namespace saccade {

/// Adds to a patch what stands in the place of one node: nodes named after it, of its stage.
class Steps {
 public:
  /// Both outlive the steps.
  Steps(Patch& patch, const Node& replaced) : patch_(patch), replaced_(replaced) {}

  /// A node of one output, which it returns. NAME goes behind the replaced node's.
  ValueId add(std::string_view name, Node node);
  ValueId constant(std::string_view name, Tensor tensor);
  /// FROM with its dimensions in another ORDER.
  ValueId transpose(std::string_view name, ValueId from, std::vector<std::int64_t> order);
  /// FROM with the dimensions of SHAPE.
  ValueId reshape(std::string_view name, ValueId from, const Shape& shape);

 private:
  std::string named(std::string_view name) const;

  Patch& patch_;
  const Node& replaced_;
};

}  // namespace saccade
