#include "op_case/op_case.hpp"

namespace saccade {
namespace {

TEST(Backend, NamesItselfAndTheProcessor) {
  EXPECT_EQ(cpu_backend().name(), "cpu");
  EXPECT_NE(cpu_backend().device_name().find("("), std::string::npos);
}

TEST(Backend, TheReferenceIsTheLastResort) { EXPECT_EQ(cpu_backend().tactics().back()->name(), "reference"); }

TEST(Reference, RunsTheOperatorsOwnKernel) { OpCase("Identity").input({2, 3, 4}).check(on_cpu("reference")); }

TEST(Reference, RefusesChannelsLastTensors) {
  const Support support = OpCase("Identity").input({2, 3, 4}).supports(on_cpu("reference"), Layout::kChannelsLast);
  EXPECT_FALSE(support.yes);
  EXPECT_NE(support.reason.find("row-major"), std::string::npos);
}

}  // namespace
}  // namespace saccade
