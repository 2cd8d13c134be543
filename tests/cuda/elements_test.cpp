#include "op_case/op_case.hpp"

namespace saccade {
namespace {

TEST(CudaFallback, RunsReferenceKernelsInTheGraph) {
  OpCase("Softmax").input({4, 9}).check(on_cuda("host"));
  OpCase("Gather").input({5, 4}).input(Tensor::of<std::int64_t>({2}, {1, 3})).check(on_cuda("host"));
}

}  // namespace
}  // namespace saccade
