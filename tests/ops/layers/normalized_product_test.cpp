#include "ops/run_op.hpp"

namespace saccade {
namespace {

/// Rows (1, 3) and (-2, 2), which normalize to (-1, 1), times a column and its double.
OpCall small_product() {
  return {.op = "NormalizedProduct",
          .inputs = {Tensor::of<float>({1, 2, 2}, {1, 3, -2, 2}), Tensor::of<float>({2, 2}, {1, 2, 3, 6}), Tensor(),
                     Tensor::of<float>({2}, {1, 1})},
          .attributes = {{"epsilon", 0.0F}},
          .domain = "saccade"};
}

TEST(NormalizedProduct, MultipliesRowsOfDeviation1) {
  expect_tensor<float>(small_product().one(), {1, 2, 2}, {2, 4, 2, 4}, 1e-6);
}

TEST(NormalizedProduct, ScalesAndShiftsRowsBefore) {
  OpCall call = small_product();
  call.inputs[3] = Tensor::of<float>({2}, {2, 1});
  call.inputs.push_back(Tensor::of<float>({2}, {0, 10}));
  expect_tensor<float>(call.one(), {1, 2, 2}, {31, 62, 31, 62}, 1e-5);  // -2 + 3 * 11, twice as much
}

TEST(NormalizedProduct, HasTheFactorsAndTheBiasOfAGemm) {
  OpCall call = small_product();
  call.inputs[1] = Tensor::of<float>({2, 2}, {1, 3, 2, 6});
  call.inputs[2] = Tensor::of<float>({2}, {5, 7});
  call.attributes.emplace_back("transB", std::int64_t{1});
  call.attributes.emplace_back("alpha", 0.5F);
  call.attributes.emplace_back("beta", 2.0F);
  expect_tensor<float>(call.one(), {1, 2, 2}, {11, 16, 11, 16}, 1e-5);
}

TEST(NormalizedProduct, AddsEpsilonToTheVariance) {
  OpCall call = small_product();
  call.inputs[0] = Tensor::of<float>({2}, {1, 3});
  call.attributes = {{"epsilon", 3.0F}};
  expect_tensor<float>(call.one(), {2}, {1, 2}, 1e-6);
}

TEST(NormalizedProduct, RefusesWhatDoesNotFit) {
  OpCall weights = small_product();
  weights.inputs[1] = Tensor::of<float>({3, 1}, {1, 2, 3});
  EXPECT_EQ(weights.error().second,
            "node 'node' (saccade.NormalizedProduct): NormalizedProduct can't multiply rows 1x2x2 by weights 3x1");
  OpCall scale = small_product();
  scale.inputs[3] = Tensor::of<float>({3}, {1, 2, 3});
  EXPECT_EQ(scale.error().first, ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
