#include "measure/bench/closeness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/specials.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

Tensor floats(std::initializer_list<float> values) {
  return Tensor::of<float>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

TEST(Closeness, AllowsWhatIsRelativeToTheExpectedNumber) {
  EXPECT_EQ(difference(floats({1000.9F, 0}), floats({1000, 0}), {}), "");
  EXPECT_EQ(difference(floats({1, 1002, 5}), floats({1, 1000, 5}), {}),
            "1 of 3 elements differ, the largest difference at element 1: 1002 instead of 1000");
  EXPECT_EQ(difference(floats({1002}), floats({1000}), {.relative = 1e-2}), "");
}

TEST(Closeness, AllowsNextToNothingAroundZero) {
  EXPECT_EQ(difference(floats({9e-8F}), floats({0}), {}), "");
  EXPECT_NE(difference(floats({2e-7F}), floats({0}), {}), "");
}

TEST(Closeness, NamesTheWorstElement) {
  EXPECT_EQ(difference(floats({2, 9, 1}), floats({1, 1, 1}), {}),
            "2 of 3 elements differ, the largest difference at element 1: 9 instead of 1");
}

TEST(Closeness, NaNEqualsNaNAndInfinityItself) {
  EXPECT_EQ(difference(floats({kNan, kInfinity}), floats({kNan, kInfinity}), {}), "");
  EXPECT_NE(difference(floats({kNan}), floats({1}), {}), "");
  EXPECT_NE(difference(floats({1}), floats({kNan}), {}), "");
  EXPECT_NE(difference(floats({kInfinity}), floats({-kInfinity}), {}), "");
  EXPECT_NE(difference(floats({3e38F}), floats({kInfinity}), {}), "");
}

TEST(Closeness, TypesAndShapesAreEqual) {
  EXPECT_EQ(difference(floats({1}), Tensor::of<double>({1}, {1}), {}), "is float32 1 instead of float64 1");
  EXPECT_EQ(difference(floats({1}), Tensor::scalar(1.0F), {}), "is float32 1 instead of float32 scalar");
  EXPECT_EQ(difference(Tensor(DType::kFloat32, {0}), Tensor(DType::kFloat32, {0}), {}), "");
}

TEST(Closeness, DistinguishesLargeIntegers) {
  const auto integer = [](std::uint64_t value) { return Tensor::scalar(value); };
  const Tolerance exact{.relative = 0};
  EXPECT_EQ(difference(integer((1ULL << 63U) + 1), integer((1ULL << 63U) + 1), exact), "");
  EXPECT_NE(difference(integer((1ULL << 63U) + 1), integer(1ULL << 63U), exact), "");
}

TEST(Closeness, ABFloat16MayBeTwoStepsOff) {
  const auto bfloat = [](float value) { return Tensor::scalar(BFloat16(value)); };
  EXPECT_EQ(difference(bfloat(1.0078125F), bfloat(1), {}), "");
  EXPECT_NE(difference(bfloat(1.03F), bfloat(1), {}), "");
}

TEST(Closeness, StringsAndBoolsAreEqual) {
  Tensor a(DType::kString, {2});
  Tensor b(DType::kString, {2});
  a.strings()[1] = "cat";
  b.strings()[1] = "dog";
  EXPECT_EQ(difference(a, a, {}), "");
  EXPECT_EQ(difference(a, b, {}), "element 1 is 'cat' instead of 'dog'");
  EXPECT_EQ(difference(Tensor::scalar(true), Tensor::scalar(false), {}), "byte 0 is 0x01 instead of 0x00");
}

}  // namespace
}  // namespace saccade
