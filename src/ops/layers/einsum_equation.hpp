#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/attributes.hpp"
#include "saccade/tensor.hpp"

namespace saccade {

/// Letters are labels of dimensions; dimensions of an ellipsis are labelled '0' to '7', the last one '7'.
struct EinsumEquation {
  std::vector<std::string> operands;
  std::string output;
  std::map<char, std::int64_t> extents;

  Shape shape_of(const std::string& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(extents.at(label));
    return shape;
  }
};

/// Parses the attribute "equation" for operands of SHAPES. Throws Error (kInvalidFile) if it is invalid or does not
/// match them.
EinsumEquation read_einsum(const Attributes& attributes, const std::vector<Shape>& shapes);

}  // namespace saccade
