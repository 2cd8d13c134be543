#pragma once

#include "op_case/op_case.hpp"

namespace saccade {

/// The tactics that must run a case; "": the one that the backend prefers.
struct Tactics {
  std::string_view cpu = {};
  std::string_view cuda = {};
};

/// Where CUDA's arithmetic differs by more than the CPU's: other sums, other roundings of functions.
struct Tolerances {
  Tolerance cpu = {};
  Tolerance cuda = {};
};

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
  /// The backend of this run and the tactic that it must take there.
  static On by(const Tactics& tactics);
  static On by(std::string_view cpu = {}, std::string_view cuda = {}) { return by(Tactics{cpu, cuda}); }
  static Tolerance within(const Tolerances& tolerances) {
    return is_on(TestedBackend::kCuda) ? tolerances.cuda : tolerances.cpu;
  }
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
