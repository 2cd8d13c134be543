#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.elementwise");

TEST(Elementwise, RunsOnTwoThreads) {
  OpCase("Add")
      .input({1, 16, 64, 64})
      .input({1, 16, 64, 64})
      .post("Relu")
      .check_two_threads(kTactic, Layout::kChannelsLast);
}

TEST(Elementwise, LeavesPowersBeyondItsVectorsToTheReference) {
  EXPECT_FALSE(OpCase("Pow").input({3}).constant(Tensor::scalar(0.0F)).supports(kTactic));
  EXPECT_FALSE(OpCase("Pow").input({3}).constant(Tensor::scalar(9.5F)).supports(kTactic));
}

TEST(Elementwise, RefusesIntegers) {
  const Support support = OpCase("Add")
                              .input(random_integers(DType::kInt64, {4}, 0, 9, 1))
                              .input(random_integers(DType::kInt64, {4}, 0, 9, 2))
                              .supports(kTactic);
  EXPECT_FALSE(support.yes);
  EXPECT_NE(support.reason.find("float32"), std::string::npos);
}

}  // namespace
}  // namespace saccade
