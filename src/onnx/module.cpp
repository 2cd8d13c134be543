#include <new>

#include "base/error.hpp"
#include "graph/verify.hpp"
#include "onnx/model_file.hpp"
#include "onnx/reader.hpp"
#include "onnx/upgrade.hpp"

namespace saccade {
namespace {

Graph import_model(const std::string& path, const ImportOptions& options) {
  try {
    onnx::ModelProto model = read_model_file(path);
    const ExternalData external(std::filesystem::path(path).parent_path());
    Graph graph = upgrade_graph(read_graph(model, external, options));
    verify(graph);
    return graph;
  } catch (const Error& error) {
    throw error.in(path);
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kUnsupported, "{}: the model does not fit the memory of this machine", path);
  }
}

constexpr OnnxModule kModule{.import_model = import_model};

}  // namespace

extern "C" const OnnxModule* saccade_module_onnx() { return &kModule; }

}  // namespace saccade
