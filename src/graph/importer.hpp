#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

struct ImportOptions {
  /// Full shapes by input name ("": the only input), and sizes by symbolic dimension name; every other symbolic
  /// dimension is 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::int64_t> dimensions;
  /// Contents of inputs, by name. An input on whose contents a shape depends (a Reshape's target, an If's condition)
  /// becomes a constant and is removed from the inputs; the others stay inputs.
  std::map<std::string, Tensor> contents;
  /// limit of constants and values computed from them, in bytes; 0: default_memory_limit()
  std::size_t max_memory = 0;
};

/// Interface of the onnx module; get it with module<OnnxModule>("onnx"). MAX_MEMORY is that of ImportOptions.
struct OnnxModule {
  /// Reads an ONNX file and its external data into a verified graph with inferred types: functions inlined, operators
  /// upgraded to the newest form. Throws Error naming the file and the node.
  Graph (*import_model)(const std::string& path, const ImportOptions& options);
  /// The names of a model's inputs in the order of its file, without initializers. Throws Error naming the file.
  std::vector<std::string> (*input_names)(const std::string& path, std::size_t max_memory);
  /// The files beside a model that hold its external data, each once. Throws Error naming the file.
  std::vector<std::string> (*data_files)(const std::string& path, std::size_t max_memory);
  /// Reads a file with one tensor (a TensorProto, as in ONNX's test folders). Throws Error naming the file.
  Tensor (*read_tensor)(const std::string& path, std::size_t max_memory);
};

}  // namespace saccade
