#include "measure/statistics/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/half.hpp"

namespace saccade {
namespace {

Tensor floats(const Shape& shape, std::initializer_list<float> values) { return Tensor::of<float>(shape, values); }

TEST(Drift, IsTheErrorInUnitsOfTheChange) {
  const Tensor reference = floats({1, 2}, {3, 4});
  const Tensor other = floats({1, 2}, {3, 6});  // changes by 2
  EXPECT_DOUBLE_EQ(drift(reference, reference, other), 0);
  EXPECT_DOUBLE_EQ(drift(floats({1, 2}, {3, 5}), reference, other), 0.5);
}

TEST(Drift, OfHalfPrecision) {
  const auto fp16 = [](float a, float b) { return Tensor::of<Float16>({1, 2}, {Float16(a), Float16(b)}); };
  EXPECT_DOUBLE_EQ(drift(fp16(3, 5), fp16(3, 4), fp16(3, 6)), 0.5);
}

TEST(Drift, AnOutputThatIgnoresItsInputDrifts) {
  const Tensor reference = floats({1, 2}, {3, 4});
  const Tensor other = floats({1, 2}, {5, 6});
  EXPECT_DOUBLE_EQ(drift(other, reference, other), 1);
}

TEST(Drift, WhereNothingChangesTheSizeCounts) {
  const Tensor reference = floats({1, 2}, {3, 4});  // |ref| = 5
  EXPECT_NEAR(drift(floats({1, 2}, {3, 4.05F}), reference, reference), 1, 1e-5);
}

TEST(Drift, SmallChannelsCountAsMuchAsLargeOnes) {
  // 2 channels of 2 pixels: hundreds, and hundredths that are wrong.
  const Tensor reference = floats({1, 2, 1, 2}, {100, 200, 0.01F, 0.02F});
  const Tensor other = floats({1, 2, 1, 2}, {200, 100, 0.02F, 0.01F});
  EXPECT_NEAR(drift(floats({1, 2, 1, 2}, {100, 200, 0.02F, 0.01F}), reference, other), 1, 1e-5);
}

TEST(Drift, RoundingOfScoresNearZeroIsNone) {
  const Tensor reference = floats({1, 2}, {5e-5F, 4e-5F});
  const Tensor other = floats({1, 2}, {5.01e-5F, 4.01e-5F});
  EXPECT_LT(drift(floats({1, 2}, {5.003e-5F, 4.003e-5F}), reference, other), kLargestDrift) << "3e-8 apart";
  EXPECT_GT(drift(floats({1, 2}, {5.1e-5F, 4.1e-5F}), reference, other), kLargestDrift) << "1e-6 apart";
}

TEST(Drift, OtherShapesAndLostNumbersAreInfinitelyFar) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor reference = floats({2}, {1, 2});
  EXPECT_TRUE(std::isinf(drift(floats({1}, {1}), reference, reference)));
  EXPECT_TRUE(std::isinf(drift(floats({2}, {1, nan}), reference, reference)));
  // Elements where the reference is not finite are ignored.
  EXPECT_EQ(drift(floats({2}, {1, 7}), floats({2}, {1, nan}), reference), 0);
}

TEST(Drift, QueriesMaySwap) {
  Tensor reference(DType::kFloat32, {1, 100, 2});
  Tensor other(DType::kFloat32, {1, 100, 2});
  for (std::size_t i = 0; i < 200; ++i) {
    reference.data<float>()[i] = static_cast<float>(i);
    other.data<float>()[i] = static_cast<float>(i) + 1;
  }
  Tensor swapped = reference.clone();
  for (std::size_t k = 0; k < 2; ++k) std::swap(swapped.data<float>()[k], swapped.data<float>()[120 + k]);
  EXPECT_EQ(drift(swapped, reference, other), 0);
  Tensor broken = reference.clone();
  for (std::size_t k = 0; k < 20; ++k) broken.data<float>()[k] = 1000;
  EXPECT_GT(drift(broken, reference, other), 1);
}

}  // namespace
}  // namespace saccade
