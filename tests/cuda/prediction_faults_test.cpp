#include <gtest/gtest.h>

#include "runtime/cpu_backend.hpp"
#include "runtime/cuda_backend.hpp"
#include "runtime/plan.hpp"
#include "runtime/reference_backend.hpp"
#include "support/faulty_heads.hpp"

// Faults of predictions are reported identically on every device.
namespace saccade {
namespace {

std::string faults_on(const Backend& backend, const test::FaultyModel& model) {
  Execution execution(Plan::compile(model.attached.graph, backend, {}));
  execution.poison();
  const test::BlackFrame frame(model.card);
  ResultReader reader(model.card, model.attached.outputs, {});
  Result result;
  reader.prepare(result);
  *execution.frame() = frame.view();
  execution.run();
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < execution.plan().graph().outputs().size(); ++i) views.push_back(execution.output(i));
  reader.read(views, frame.width, frame.height, result);
  return to_string(result.faults);
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
