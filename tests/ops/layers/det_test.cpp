#include <limits>

#include "ops/op_values.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

TEST(Det, OfEveryMatrix) {
  const Tensor pair = Tensor::of<float>({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0});
  expect_tensor<float>(run("Det", {pair}), {2}, {-2, -1}, 1e-6);
  const Tensor three = Tensor::of<double>({3, 3}, {2, 0, 1, 1, 3, 2, 1, 1, 4});
  expect_tensor<double>(run("Det", {three}), {}, {18}, 1e-12);  // 2 (12 - 2) + 1 (1 - 3)
  expect_tensor<Float16>(run("Det", {Tensor::of<Float16>({1, 1}, {Float16(3.0F)})}), {}, {Float16(3.0F)});
}

TEST(Det, OfASingularMatrixIsZero) {
  expect_tensor<float>(run("Det", {Tensor::of<float>({2, 2}, {1, 2, 2, 4})}), {}, {0});
  expect_tensor<float>(run("Det", {Tensor::of<float>({2, 2}, {0, 1, 0, 3})}), {}, {0});
}

TEST(Det, OfNoNumbersIsOne) { expect_tensor<float>(run("Det", {Tensor::of<float>({2, 0, 0}, {})}), {2}, {1, 1}); }

TEST(Det, KeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_tensor<float>(run("Det", {Tensor::of<float>({2, 2}, {nan, 1, 1, 1})}), {}, {nan});
}

TEST(Det, TakesSquareMatrices) {
  EXPECT_EQ(error_of("Det", {Tensor::of<float>({2, 1}, {1, 2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Det", {Tensor::of<float>({2}, {1, 2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Det", {counting({2, 2})}), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
