#include "import.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/error.hpp"
#include "graph/importer.hpp"
#include "graph/verify.hpp"
#include "onnx/reader.hpp"
#include "onnx/upgrade/upgrade.hpp"

namespace saccade {

extern "C" const OnnxModule* saccade_module_onnx();

namespace fuzz {

void expect_refusal_or_success(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal) return;
    std::fprintf(stderr, "a bug of ours: %s\n", error.what());
    std::abort();
  }
}

Graph import_bytes(const std::uint8_t* data, std::size_t size) {
  // An in-memory file; one suffices for a single thread.
  static const int file = memfd_create("model.onnx", 0);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  return saccade_module_onnx()->import_model(path, {.max_memory = kMaxMemory});
}

Graph import_model(onnx::ModelProto model) {
  MemoryBudget budget(kMaxMemory);
  // There is no folder of external data.
  const ExternalData external("/nonexistent/model.onnx");
  Graph graph = upgrade_graph(read_graph(model, {external, budget}, {}), {}, budget);
  verify(graph);
  return graph;
}

}  // namespace fuzz
}  // namespace saccade
