#include "tensor/numbers.hpp"

#include <gtest/gtest.h>

#include "tensor/half.hpp"

namespace saccade {
namespace {

using Numbers = std::vector<double>;

TEST(Numbers, OfEveryWidth) {
  EXPECT_EQ(numbers_of(Tensor::of<float>({2}, {1.5F, -2})), (Numbers{1.5, -2}));
  EXPECT_EQ(numbers_of(Tensor::of<Float16>({2}, {Float16(0.5F), Float16(-65504.0F)})), (Numbers{0.5, -65504}));
  EXPECT_EQ(numbers_of(Tensor::of<BFloat16>({1}, {BFloat16(3.0F)})), (Numbers{3}));
  EXPECT_EQ(numbers_of(Tensor::of<std::int8_t>({2}, {-128, 127})), (Numbers{-128, 127}));
  EXPECT_EQ(numbers_of(Tensor::of<std::uint16_t>({1}, {65535})), (Numbers{65535}));
  EXPECT_EQ(numbers_of(Tensor::of<std::uint64_t>({1}, {std::uint64_t{1} << 63U})), (Numbers{0x1p63}));
  EXPECT_EQ(numbers_of(Tensor::of<bool>({2}, {true, false})), (Numbers{1, 0}));
  EXPECT_EQ(numbers_of(Tensor(DType::kFloat32, {0})), Numbers{});
}

TEST(Numbers, NotOfStringsOrComplexNumbers) {
  EXPECT_FALSE(numbers_of(Tensor(DType::kString, {1})));
  EXPECT_FALSE(numbers_of(Tensor(DType::kComplex64, {1})));
}

}  // namespace
}  // namespace saccade
