#include "ops/op_values.hpp"

namespace saccade {
namespace {

constexpr float kHidden = -INFINITY;

Tensor zeros(const Shape& shape) {
  Tensor tensor(DType::kFloat32, shape);
  std::ranges::fill(tensor.data<float>(), 0.0F);
  return tensor;
}

/// With zero keys all scores are equal, so that a query's output is the mean of its visible values: of 3, 6 and 12.
struct Mean {
  Tensor mask = {};
  Named attributes = {};
  Tensor valid = {};

  OpCall call() const {
    return {.op = "Attention",
            .inputs = {zeros({1, 1, 3, 1}), zeros({1, 1, 3, 1}), Tensor::of<float>({1, 1, 3, 1}, {3, 6, 12}), mask,
                       Tensor(), Tensor(), valid},
            .attributes = attributes};
  }
  void expect(const std::vector<float>& wanted) const {
    expect_tensor<float>(call().one(), {1, 1, 3, 1}, wanted, 1e-6);
  }
};

TEST(Attention, WeighsValuesByTheSoftmaxOfScaledScores) {
  // The scores of the two keys are ln 3 and 0, so that the weights are 3/4 and 1/4.
  const OpCall call{.op = "Attention",
                    .inputs = {Tensor::of<float>({1, 1, 1, 2}, {1, 0}),
                               Tensor::of<float>({1, 1, 2, 2}, {std::log(3.0F) * 2, 5, 0, 7}),
                               Tensor::of<float>({1, 1, 2, 3}, {4, 8, 0, 0, 4, 12})},
                    .attributes = {{"scale", 0.5F}}};
  expect_tensor<float>(call.one(), {1, 1, 1, 3}, {3, 7, 3}, 1e-5);
}

TEST(Attention, ScalesByTheRootOfTheHeadSizeByDefault) {
  OpCall call{.op = "Attention",
              .inputs = {Tensor::of<float>({1, 1, 1, 4}, {1, 1, 1, 1}), Tensor::of<float>({1, 1, 1, 4}, {1, 2, 3, 4}),
                         Tensor::of<float>({1, 1, 1, 1}, {9})},
              .outputs = 4};
  const auto outputs = call.run();
  expect_tensor<float>(outputs[0], {1, 1, 1, 1}, {9});
  expect_tensor<float>(outputs[1], {1, 1, 1, 4}, {1, 2, 3, 4});
  expect_tensor<float>(outputs[2], {1, 1, 1, 1}, {9});
  expect_tensor<float>(outputs[3], {1, 1, 1, 1}, {5}, 1e-6);
}

TEST(Attention, HidesWhatMaskCausalRuleWindowAndPaddingHide) {
  Mean{}.expect({7, 7, 7});
  Mean{.attributes = {{"is_causal", std::int64_t{1}}}}.expect({3, 4.5, 7});
  Mean{.attributes = {{"left_window_size", std::int64_t{0}}}}.expect({7, 9, 12});
  Mean{.attributes = {{"left_window_size", std::int64_t{1}}, {"right_window_size", std::int64_t{0}}}}.expect(
      {3, 4.5, 9});
  Mean{.mask = Tensor::of<bool>({3, 3}, {true, false, false, false, true, true, true, false, true})}.expect(
      {3, 9, 7.5});
  Mean{.valid = indices({2})}.expect({4.5, 4.5, 4.5});
  // The three queries are the last of two valid keys: the first of them precedes every key.
  Mean{.attributes = {{"is_causal", std::int64_t{1}}}, .valid = indices({2})}.expect({0, 3, 4.5});
}

TEST(Attention, AddsAnAdditiveMaskAndHidesKeysPastItsEnd) {
  Mean{.mask = Tensor::of<float>({1, 2}, {0, std::log(2.0F)})}.expect({5, 5, 5});
  Mean{.mask = Tensor::of<float>({3}, {kHidden, 0, 0})}.expect({9, 9, 9});
}

TEST(Attention, YieldsZerosIfAllKeysAreMasked) {
  Mean{.mask = Tensor::of<bool>({3, 1}, {true, false, true})}.expect({3, 0, 3});
}

TEST(Attention, SharesHeadsOfKeysAndCutsThreeDimensionsIntoHeads) {
  // Four heads of queries, two of keys: heads 0 and 1 see the values 1 and 3, heads 2 and 3 see 10 and 30.
  const OpCall call{.op = "Attention",
                    .inputs = {zeros({1, 1, 4}), zeros({1, 2, 2}), Tensor::of<float>({1, 2, 2}, {1, 10, 3, 30})},
                    .attributes = {{"q_num_heads", std::int64_t{4}}, {"kv_num_heads", std::int64_t{2}}}};
  expect_tensor<float>(call.one(), {1, 1, 4}, {2, 2, 20, 20}, 1e-5);
}

TEST(Attention, PutsThePastBeforeTheKeys) {
  const OpCall call{.op = "Attention",
                    .inputs = {zeros({1, 1, 2, 1}), zeros({1, 1, 2, 1}), Tensor::of<float>({1, 1, 2, 1}, {6, 12}),
                               Tensor(), Tensor::of<float>({1, 1, 1, 1}, {5}), Tensor::of<float>({1, 1, 1, 1}, {3})},
                    .attributes = {{"is_causal", std::int64_t{1}}},
                    .outputs = 3};
  const auto outputs = call.run();
  expect_tensor<float>(outputs[0], {1, 1, 2, 1}, {4.5, 7}, 1e-6);
  expect_tensor<float>(outputs[1], {1, 1, 3, 1}, {5, 0, 0});
  expect_tensor<float>(outputs[2], {1, 1, 3, 1}, {3, 6, 12});
}

TEST(Attention, ShowsItsScoresAfterEveryStep) {
  const auto shown = [](std::int64_t mode) {
    return OpCall{.op = "Attention",
                  .inputs = {Tensor::of<float>({1, 1, 1, 1}, {1}), Tensor::of<float>({1, 1, 2, 1}, {100, 0}),
                             Tensor::of<float>({1, 1, 2, 1}, {1, 2}), Tensor::of<float>({2}, {-2, 0})},
                  .attributes = {{"softcap", 2.0F}, {"qk_matmul_output_mode", mode}},
                  .outputs = 4}
        .run()
        .at(3);
  };
  expect_tensor<float>(shown(0), {1, 1, 1, 2}, {100, 0}, 1e-5);
  expect_tensor<float>(shown(1), {1, 1, 1, 2}, {2, 0}, 1e-5);
  expect_tensor<float>(shown(2), {1, 1, 1, 2}, {0, 0}, 1e-5);
  expect_tensor<float>(shown(3), {1, 1, 1, 2}, {0.5, 0.5}, 1e-5);
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Tensor one = zeros({1, 1, 3, 1});
  EXPECT_EQ(error_of("Attention", {one, zeros({1, 1, 3, 2}), one}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Attention", {zeros({1, 3, 4}), zeros({1, 3, 4}), zeros({1, 3, 4})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Attention", {one, one, one, zeros({2, 3})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Attention", {one, one, one, zeros({3, 4})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Attention", {one, one, one, Tensor(), one}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Attention", {one, one, one}, {{"qk_matmul_output_mode", std::int64_t{4}}}),
            ErrorCode::kInvalidFile);
  EXPECT_EQ((Mean{.valid = indices({4})}.call().error().first), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("Attention", {counting({1, 1, 1, 1}), counting({1, 1, 1, 1}), counting({1, 1, 1, 1})}),
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
