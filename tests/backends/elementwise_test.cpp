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

/// Rows of a few elements, in which operands broadcast or have another order.
TEST(Elementwise, BroadcastsInShortRows) {
  const auto check = [](const Shape& left, const Shape& right, const Shape& operand) {
    OpCase("Sub").input(left).input(right).post("Relu").check(kTactic);
    OpCase("Sum").input(left).input(right).input(operand).check(kTactic);
    OpCase("Sub").input(right).input(left).check_layouts(kTactic);
  };
  check({1, 100, 8, 6, 2}, {6, 1}, {1, 100, 1, 1, 2});
  check({1, 100, 8, 6, 2}, {1, 1, 1, 1, 1}, {8, 1, 2});
  check({7, 3, 1, 5}, {1, 3, 4, 1}, {4, 5});
  check({2, 5, 1, 3}, {1, 1, 9, 3}, {2, 1, 9, 1});
  check({600, 3}, {600, 1}, {3});
  check({3000, 3}, {3000, 1}, {3});
  check({6300, 2}, {6300, 1}, {2});
  check({2, 1031, 2}, {1031, 1}, {2});
  check({2, 1, 3}, {2, 700, 1}, {1, 1, 3});
  check({0, 3}, {1, 3}, {3});
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
