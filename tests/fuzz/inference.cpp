#include "import.hpp"
#include "model_mutator.hpp"

// Any model: nodes of old operator sets upgraded to the newest form, and all types inferred.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade::fuzz;
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return 0;
  expect_refusal_or_success([&] { import_model(std::move(model)); });
  return 0;
}
