// Runs a model on tensors in the caller's memory and counts who allocates once it is warm:
//   steady_state_session MODEL [RUNS]
#include <cstdlib>

#include "saccade/saccade.hpp"
#include "steady_state/count_frames.hpp"

namespace {

int measure(const char* path, int runs) {
  const auto model = saccade::Model::load(path, {.device = saccade::Device::cpu()});
  saccade::Session session(model);
  std::vector<saccade::Tensor> memory;  // zeros in, predictions out
  std::vector<saccade::InputBuffer> inputs;
  std::vector<saccade::OutputBuffer> outputs;
  for (const auto& [name, dtype, shape] : model.inputs()) {
    saccade::Tensor& tensor = memory.emplace_back(dtype, shape);
    std::fill_n(tensor.raw(), tensor.bytes(), std::byte{});
    inputs.push_back({tensor.raw(), dtype, shape});
  }
  for (const auto& [name, dtype, shape] : model.outputs()) {
    saccade::Tensor& tensor = memory.emplace_back(dtype, shape);
    outputs.push_back({tensor.raw(), tensor.bytes(), dtype, {}});
  }
  const auto take = [&](int wanted) {
    for (int i = 0; i < wanted; ++i) session.run(inputs, outputs);
    return true;
  };
  return saccade::test::count_frames(take, runs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: steady_state_session MODEL [RUNS]") < 0 ? 1 : 2;
  try {
    return measure(argv[1], argc > 2 ? std::atoi(argv[2]) : 200);
  } catch (const saccade::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
