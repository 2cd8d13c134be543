#pragma once

#include "op_case/op_case.hpp"

namespace saccade {

/// Skips the running test where there is no GPU, real or emulated; throws where SACCADE_TEST_CUDA says that there must
/// be one.
void skip_without_cuda();

/// A suite of operators' tests, each of which runs on every backend:
/// SACCADE_EVERY_BACKEND(Softmax);
/// TEST_P(Softmax, RunsAlongAnyAxis) { OpCase("Softmax").input({2, 3}).check(by("CPU TACTIC", "CUDA TACTIC")); }
class EveryBackend : public testing::TestWithParam<TestedBackend> {
 protected:
  void SetUp() override {
    if (is_on(TestedBackend::kCuda)) skip_without_cuda();
  }
  /// The backend of this run and the tactic that it must take there; "": the one that it prefers.
  static On by(std::string_view cpu = {}, std::string_view cuda = {});
  static bool is_on(TestedBackend backend) { return GetParam() == backend; }
  /// The floating-point types that the backend's kernels compute in.
  static std::vector<DType> precisions();
};

inline std::string backend_name(const testing::TestParamInfo<TestedBackend>& info) {
  return std::string(to_string(info.param));
}

#define SACCADE_EVERY_BACKEND(suite)    \
  class suite : public EveryBackend {}; \
  INSTANTIATE_TEST_SUITE_P(             \
      On, suite, testing::Values(TestedBackend::kReference, TestedBackend::kCpu, TestedBackend::kCuda), backend_name)

/// TOLERANCE for fp32; in half precision what one rounding of a number of ordinary size makes, if that is more.
Tolerance tolerance_in(DType dtype, Tolerance tolerance = {});

}  // namespace saccade
