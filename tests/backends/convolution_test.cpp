#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.convolution");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};

TEST(Convolution, ReadsOperandsThatLieOtherwiseThanTheOutput) {
  OpCase("Conv")
      .input({1, 8, 9, 9})
      .constant({8, 8, 1, 1}, -1, 1)
      .absent()
      .post_with_operand("Add")
      .input_layout(3, Layout::kRowMajor)
      .check(kTactic, kClose, Layout::kChannelsLast);
}

TEST(Convolution, RunsOnTwoThreads) {
  OpCase("Conv")
      .input({1, 16, 40, 40})
      .constant({16, 16, 3, 3}, -1, 1)
      .constant({16}, -1, 1)
      .post("Silu")
      .check_two_threads(kTactic, Layout::kChannelsLast, kClose);
}

TEST(Convolution, RefusesWeightsThatAreNotConstant) {
  EXPECT_FALSE(OpCase("Conv").input({1, 8, 9, 9}).input({16, 8, 3, 3}).supports(kTactic));
}

TEST(Convolution, RefusesEmptyTensors) {
  EXPECT_FALSE(OpCase("Conv").input({0, 8, 9, 9}).constant({16, 8, 3, 3}, -1, 1).supports(kTactic));
}

}  // namespace
}  // namespace saccade
