#pragma once

#include <map>
#include <string>

#include "graph/graph.hpp"

namespace saccade {

struct ImportOptions {
  /// Full shapes by input name, and sizes by symbolic dimension name; every other symbolic dimension is 1.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, std::int64_t> dimensions;
};

/// What the onnx module offers; get it with module<OnnxModule>("onnx").
struct OnnxModule {
  /// Reads an ONNX file (external data beside it) into a verified graph with all types inferred: functions inlined,
  /// operators upgraded to the newest form. Throws Error naming the file and the node.
  Graph (*import_model)(const std::string& path, const ImportOptions& options);
};

}  // namespace saccade
