#include "ops/op_values.hpp"

namespace saccade {
namespace {

TEST(LpNormalization, DividesByTheNorm) {
  const Tensor x = Tensor::of<float>({2, 2}, {3, -4, 0, 0});
  expect_tensor<float>(run("LpNormalization", {x}), {2, 2}, {0.6F, -0.8F, 0, 0}, 1e-6);
  expect_tensor<float>(run("LpNormalization", {x}, {{"p", std::int64_t{1}}}), {2, 2}, {3.0F / 7, -4.0F / 7, 0, 0},
                       1e-6);
  expect_tensor<float>(run("LpNormalization", {x}, {{"axis", std::int64_t{0}}}), {2, 2}, {1, -1, 0, 0});
  EXPECT_EQ(error_of("LpNormalization", {x}, {{"p", std::int64_t{3}}}), ErrorCode::kInvalidFile);
}

TEST(RMSNormalization, DividesByTheRootOfTheMeanSquare) {
  // Mean squares 25 and 4.
  const Tensor x = Tensor::of<float>({2, 2}, {7, 1, 2, -2});
  const Tensor scale = Tensor::of<float>({2}, {1, 10});
  expect_tensor<float>(run("RMSNormalization", {x, scale}, {{"epsilon", 0.0F}}), {2, 2}, {1.4F, 2, 1, -10}, 1e-6);
}

TEST(RMSNormalization, NormalisesFromAnAxisOn) {
  const Tensor x = Tensor::of<double>({2, 2}, {1, 1, 1, 5});  // mean square 7
  const Tensor scale = Tensor::of<float>({1}, {7});
  const Named all = {{"axis", std::int64_t{0}}, {"epsilon", 2.0F}};
  expect_tensor<float>(run("RMSNormalization", {x, scale}, all), {2, 2}, {7.0F / 3, 7.0F / 3, 7.0F / 3, 35.0F / 3},
                       1e-5);
  EXPECT_EQ(error_of("RMSNormalization", {x, Tensor::of<float>({3}, {1, 1, 1})}), ErrorCode::kInvalidFile);
}

TEST(MeanVarianceNormalization, NormalisesChannelsOverTheBatch) {
  const Tensor x = Tensor::of<float>({2, 2, 1, 1}, {1, 10, 3, 10});
  expect_tensor<float>(run("MeanVarianceNormalization", {x}), {2, 2, 1, 1}, {-1, 0, 1, 0}, 1e-6);
  expect_tensor<float>(run("MeanVarianceNormalization", {x}, {{"axes", Ints{1}}}), {2, 2, 1, 1}, {-1, 1, -1, 1}, 1e-6);
}

}  // namespace
}  // namespace saccade
