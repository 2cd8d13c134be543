#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/importer.hpp"
#include "onnx.pb.h"

namespace saccade {

/// GRAPH's inputs in its order, without initializers: files of IR version 3 list those, too.
std::vector<const onnx::ValueInfoProto*> inputs_of(const onnx::GraphProto& graph);

/// Binds the symbolic dimensions of a model's inputs: to the shape requested for an input, to the size requested for a
/// dimension (which then holds wherever the name occurs), else to 1.
class InputShapes {
 public:
  /// INPUTS without initializers. Throws Error (kInvalidArgument) if OPTIONS name an input or dimension that the model
  /// does not have, or contradict its shapes; kInvalidFile or kUnsupported on inputs that are not tensors.
  InputShapes(std::vector<const onnx::ValueInfoProto*> inputs, const ImportOptions& options);

  /// Throws Error (kInvalidArgument) with the --shape to pass if the file leaves the rank open.
  TensorType type_of(const onnx::ValueInfoProto& input) const;

  /// What to try after a shape error: names the dimensions that were not given; empty if there are none.
  std::string hint() const;

 private:
  Shape bound_shape(const onnx::ValueInfoProto& input) const;
  void bind(const std::string& symbol, std::int64_t size);
  void bind_shape(const onnx::ValueInfoProto& input, const std::vector<std::int64_t>& shape);

  std::vector<const onnx::ValueInfoProto*> inputs_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;  // requested shapes, by input
  std::map<std::string, std::int64_t> sizes_;                // by symbol
};

}  // namespace saccade
