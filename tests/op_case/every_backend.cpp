#include "op_case/every_backend.hpp"

#include <algorithm>
#include <cstdlib>

#include "runtime/cuda_backend.hpp"

namespace saccade {

void skip_without_cuda() {
  try {
    cuda_backend({});
  } catch (const Error& error) {
    if (std::getenv("SACCADE_TEST_CUDA") != nullptr) throw;
    GTEST_SKIP() << "CUDA is not tested: " << error.what();
  }
}

On EveryBackend::by(const Tactics& tactics) {
  switch (GetParam()) {
    case TestedBackend::kReference: return on_reference();
    case TestedBackend::kCpu: return on_cpu(tactics.cpu);
    case TestedBackend::kCuda: return on_cuda(tactics.cuda);
  }
  return {};
}

std::vector<DType> EveryBackend::precisions() {
  if (is_on(TestedBackend::kCpu)) return {DType::kFloat32};
  return {DType::kFloat32, DType::kFloat16, DType::kBFloat16};
}

Tolerance tolerance_in(DType dtype, Tolerance tolerance) {
  const double rounding = dtype == DType::kFloat16 ? 2e-3 : dtype == DType::kBFloat16 ? 1e-2 : 0;
  return {std::max(tolerance.absolute, rounding), std::max(tolerance.relative, rounding)};
}

}  // namespace saccade
