#include "import.hpp"
#include "model_mutator.hpp"
#include "passes/core/manager.hpp"

// Any readable model: constant folding, then the other passes, with the graph verified after each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return 0;
  fuzz::expect_refusal_or_success([&] {
    Graph graph = fuzz::import_model(std::move(model));
    run_passes(graph, {.max_memory = fuzz::kMaxMemory});
  });
  return 0;
}
