#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/attributes.hpp"
#include "onnx/tensors.hpp"

namespace saccade {

/// The attribute values that a function's body may reference by name.
using Arguments = std::map<std::string, const onnx::AttributeProto*>;
/// A node's attributes by name, with references to ARGUMENTS resolved; a reference without an argument is omitted.
/// Borrows the protobufs.
using NamedAttributes = std::vector<std::pair<std::string, const onnx::AttributeProto*>>;
NamedAttributes resolve_attributes(const onnx::NodeProto& node, const Arguments& arguments);

/// Throws Error (kUnsupported) on a sub-graph and on other types that no supported operator has.
Attributes read_attributes(const NamedAttributes& attributes, const TensorSource& source);

/// The value of a Constant node. Throws Error (kInvalidFile) if it has none or several.
Tensor read_constant(const NamedAttributes& attributes, const TensorSource& source);

}  // namespace saccade
