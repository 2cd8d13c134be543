#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

struct ImportOptions {
  /// Full shapes by input name, and sizes by symbolic dimension name; every other symbolic dimension is 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::int64_t> dimensions;
  /// What inputs hold, by name. One on whose contents a shape depends (a Reshape's target, an If's condition) becomes a
  /// constant and is no input any more; the others are inputs as ever.
  std::map<std::string, Tensor> contents;
  /// What its constants and what is worked out from them may take, in bytes; 0: default_memory_limit().
  std::size_t max_memory = 0;
};

/// What the onnx module offers; get it with module<OnnxModule>("onnx"). MAX_MEMORY is that of ImportOptions.
struct OnnxModule {
  /// Reads an ONNX file (external data beside it) into a verified graph with all types inferred: functions inlined,
  /// operators upgraded to the newest form. Throws Error naming the file and the node.
  Graph (*import_model)(const std::string& path, const ImportOptions& options);
  /// The names of a model's inputs as its file orders them, initializers left out. Throws Error naming the file.
  std::vector<std::string> (*input_names)(const std::string& path, std::size_t max_memory);
  /// Reads a file of one tensor (a TensorProto, as ONNX's test folders have them). Throws Error naming the file.
  Tensor (*read_tensor)(const std::string& path, std::size_t max_memory);
};

}  // namespace saccade
