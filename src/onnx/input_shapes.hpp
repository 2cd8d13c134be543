#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/importer.hpp"
#include "onnx.pb.h"

namespace saccade {

/// GRAPH's inputs in its order, without those that are initializers: files of IR 3 list these, too.
std::vector<const onnx::ValueInfoProto*> inputs_of(const onnx::GraphProto& graph);

/// The shapes of a model's inputs once its symbolic dimensions are bound: by the shape asked for an input, by the size
/// asked for a dimension (which then holds wherever the name stands), else to 1.
class InputShapes {
 public:
  /// INPUTS without those that are initializers. Throws Error (kInvalidArgument) where OPTIONS name what the model
  /// hasn't or contradict it, kInvalidFile and kUnsupported on inputs that are no tensors.
  InputShapes(std::vector<const onnx::ValueInfoProto*> inputs, const ImportOptions& options);

  /// Throws Error (kInvalidArgument) saying which --shape to give where the file leaves the rank open.
  TensorType type_of(const onnx::ValueInfoProto& input) const;

  /// What to try where a shape turns out wrong: names the dimensions that nobody gave; empty if there are none.
  std::string hint() const;

 private:
  Shape bound_shape(const onnx::ValueInfoProto& input) const;
  void bind(const std::string& symbol, std::int64_t size);
  void bind_shape(const onnx::ValueInfoProto& input, const std::vector<std::int64_t>& shape);

  std::vector<const onnx::ValueInfoProto*> inputs_;
  std::map<std::string, std::vector<std::int64_t>> shapes_;  // as asked for, by input
  std::map<std::string, std::int64_t> sizes_;                // by symbol
};

}  // namespace saccade
