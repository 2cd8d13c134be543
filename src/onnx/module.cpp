#include <new>

#include "base/error.hpp"
#include "base/log.hpp"
#include "graph/verify.hpp"
#include "onnx/input_shapes.hpp"
#include "onnx/model_file.hpp"
#include "onnx/opsets.hpp"
#include "onnx/reader.hpp"
#include "onnx/tensors.hpp"
#include "onnx/upgrade/upgrade.hpp"

namespace saccade {
namespace {

/// A newer operator set may change an operator's semantics, which nothing in the file would show.
void warn_of_newer(const onnx::ModelProto& model, const std::string& path) {
  for (const auto& set : model.opset_import())
    if (normal_domain(set.domain()).empty() && set.version() > kNewestOpset)
      log(LogLevel::kWarning,
          "{}: the model uses operator set {}, and the newest supported is {}: its operators are read as those of {}",
          path, set.version(), kNewestOpset, kNewestOpset);
}

Graph import_model(const std::string& path, const ImportOptions& options) {
  try {
    MemoryBudget budget(options.max_memory);
    onnx::ModelProto model = read_model_file(path, budget);
    warn_of_newer(model, path);
    const ExternalData external(path);
    Graph graph = upgrade_graph(read_graph(model, {external, budget}, options), options.contents, budget);
    verify(graph);
    return graph;
  } catch (const Error& error) {
    throw error.in(path);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kUnsupported, "{}: the model does not fit the memory of this machine", path);
  }
}

std::vector<std::string> names_of_inputs(const std::string& path, std::size_t max_memory) {
  try {
    const onnx::ModelProto model = read_model_file(path, MemoryBudget(max_memory));
    std::vector<std::string> names;
    for (const onnx::ValueInfoProto* input : inputs_of(model.graph())) names.push_back(input->name());
    return names;
  } catch (const Error& error) {
    throw error.in(path);
  }
}

std::vector<std::string> data_files_of(const std::string& path, std::size_t max_memory) {
  try {
    const onnx::ModelProto model = read_model_file(path, MemoryBudget(max_memory));
    std::vector<std::string> files;
    for (const std::filesystem::path& file : ExternalData(path).files_of(model)) files.push_back(file.string());
    return files;
  } catch (const Error& error) {
    throw error.in(path);
  }
}

Tensor read_one_tensor(const std::string& path, std::size_t max_memory) {
  try {
    const ExternalData external(path);
    MemoryBudget budget(max_memory);
    return read_tensor(read_tensor_file(path, budget), {external, budget});
  } catch (const Error& error) {
    throw error.in(path);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kUnsupported, "{}: the tensor does not fit the memory of this machine", path);
  }
}

constexpr OnnxModule kModule{.import_model = import_model,
                             .input_names = names_of_inputs,
                             .data_files = data_files_of,
                             .read_tensor = read_one_tensor};

}  // namespace

extern "C" const OnnxModule* saccade_module_onnx() { return &kModule; }

}  // namespace saccade
