#include <gtest/gtest.h>

#include "runtime/cpu_backend.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/reference_backend.hpp"
#include "support/faulty_heads.hpp"

// Faults of predictions are reported identically on every device.
namespace saccade {
namespace {

std::string faults_on(const Backend& backend, const test::FaultyModel& model) {
  return test::take_result(backend, model, [](const Result& result) { return to_string(result.faults); });
}

void expect_faults_on(const Backend& backend) {
  test::for_faulty_models([&](const test::FaultyModel& model, const std::string& what, Faults faults) {
    EXPECT_EQ(faults_on(backend, model), to_string(faults)) << what;
  });
}

TEST(CudaPredictionFaults, AreReportedOnTheDevice) { expect_faults_on(cuda_backend({.fallback = true})); }
TEST(CudaPredictionFaults, AreReportedOnTheCpu) {
  try {
    cpu_backend();
  } catch (const Error& error) {  // a machine with a GPU may lack the CPU backend's libraries
    GTEST_SKIP() << error.what();
  }
  expect_faults_on(cpu_backend());
}
TEST(CudaPredictionFaults, AreReportedByTheReference) { expect_faults_on(reference_backend()); }

}  // namespace
}  // namespace saccade
