#include "ops/op_values.hpp"

namespace saccade {
namespace {

Named reduction(const std::string& name) { return {{"reduction", name}}; }

TEST(ScatterElements, ReplacesElementsAlongAnAxis) {
  const Tensor zeros = Tensor::of<float>({3, 2}, {0, 0, 0, 0, 0, 0});
  const Tensor which = Tensor::of<std::int64_t>({2, 2}, {1, 0, -1, 2});
  const Tensor updates = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  expect_tensor<float>(run("ScatterElements", {zeros, which, updates}), {3, 2}, {0, 2, 1, 0, 3, 4});
  const Tensor row = Tensor::of<float>({1, 3}, {1, 2, 3});
  expect_tensor<float>(
      run("ScatterElements", {row, Tensor::of<std::int64_t>({1, 2}, {2, 0}), Tensor::of<float>({1, 2}, {9, 8})},
          {{"axis", std::int64_t{1}}}),
      {1, 3}, {8, 2, 9});
}

TEST(ScatterElements, Reduces) {
  const Tensor data = Tensor::of<float>({3}, {1, 2, 3});
  const Tensor which = indices({1, 1});
  const Tensor updates = Tensor::of<float>({2}, {10, -4});
  const auto scatter = [&](const char* name) {
    return run("ScatterElements", {data, which, updates}, reduction(name));
  };
  expect_tensor<float>(scatter("none"), {3}, {1, -4, 3});
  expect_tensor<float>(scatter("add"), {3}, {1, 8, 3});
  expect_tensor<float>(scatter("mul"), {3}, {1, -80, 3});
  expect_tensor<float>(scatter("max"), {3}, {1, 10, 3});
  expect_tensor<float>(scatter("min"), {3}, {1, -4, 3});
  EXPECT_EQ(error_of("ScatterElements", {data, which, updates}, reduction("sub")), ErrorCode::kInvalidFile);
}

TEST(ScatterElements, LeavesItsInputAlone) {
  const Tensor data = Tensor::of<float>({2}, {1, 2});
  run("ScatterElements", {data, indices({0}), Tensor::of<float>({1}, {9})});
  expect_tensor<float>(data, {2}, {1, 2});
}

TEST(ScatterElements, RejectsWhatDoesNotFit) {
  const Tensor data = counting({3});
  EXPECT_EQ(error_of("ScatterElements", {data, indices({3}), counting({1})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("ScatterElements", {data, indices({0, 1}), counting({1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("ScatterElements", {data, indices({0}), Tensor::of<float>({1}, {1})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("ScatterElements", {strings({"a"}), indices({0}), strings({"b"})}, reduction("add")),
            ErrorCode::kUnsupported);
}

TEST(ScatterND, ReplacesBlocks) {
  const Tensor data = counting({3, 2});
  const Tensor rows = Tensor::of<std::int64_t>({2, 1}, {2, -3});
  const Tensor updates = Tensor::of<std::int32_t>({2, 2}, {50, 51, 60, 61});
  expect_tensor<std::int32_t>(run("ScatterND", {data, rows, updates}), {3, 2}, {60, 61, 2, 3, 50, 51});
  const Tensor points = Tensor::of<std::int64_t>({2, 2}, {0, 1, 0, 1});
  const Tensor both = Tensor::of<std::int32_t>({2}, {10, 20});
  expect_tensor<std::int32_t>(run("ScatterND", {data, points, both}), {3, 2}, {0, 20, 2, 3, 4, 5});
  expect_tensor<std::int32_t>(run("ScatterND", {data, points, both}, reduction("add")), {3, 2}, {0, 31, 2, 3, 4, 5});
  EXPECT_EQ(run("ScatterND", {strings({"a", "b"}), Tensor::of<std::int64_t>({1, 1}, {1}), strings({"c"})}).strings()[1],
            "c");
}

TEST(ScatterND, RejectsWhatDoesNotFit) {
  const Tensor data = counting({3, 2});
  const Tensor update = Tensor::of<std::int32_t>({1}, {9});
  EXPECT_EQ(error_of("ScatterND", {data, Tensor::of<std::int64_t>({1, 2}, {0, 2}), update}),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("ScatterND", {data, Tensor::of<std::int64_t>({1, 1}, {0}), update}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("ScatterND", {data, Tensor::of<std::int64_t>({1, 3}, {0, 0, 0}), update}),
            ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("ScatterND", {data, Tensor::scalar<std::int64_t>(0), update}), ErrorCode::kInvalidFile);
}

TEST(TensorScatter, WritesFromAnIndexOfEachImageOn) {
  const Tensor cache = Tensor::of<float>({2, 3, 1}, {7, 7, 7, 8, 8, 8});
  const Tensor update = Tensor::of<float>({2, 2, 1}, {1, 2, 3, 4});
  expect_tensor<float>(run("TensorScatter", {cache, update}), {2, 3, 1}, {1, 2, 7, 3, 4, 8});
  expect_tensor<float>(run("TensorScatter", {cache, update, indices({0, 1})}), {2, 3, 1}, {1, 2, 7, 8, 3, 4});
  EXPECT_EQ(error_of("TensorScatter", {cache, update, indices({0, 2})}), ErrorCode::kInvalidArgument);
}

TEST(TensorScatter, GoesRoundACircularCache) {
  const Tensor cache = Tensor::of<std::int8_t>({1, 2, 3}, {7, 7, 7, 8, 8, 8});
  const Tensor update = Tensor::of<std::int8_t>({1, 2, 2}, {1, 2, 3, 4});
  const Named circular = {{"mode", std::string("circular")}, {"axis", std::int64_t{2}}};
  expect_tensor<std::int8_t>(run("TensorScatter", {cache, update, indices({5})}, circular), {1, 2, 3},
                             {2, 7, 1, 4, 8, 3});
}

TEST(TensorScatter, RefusesWhatDoesNotFit) {
  const Tensor cache = Tensor::of<float>({1, 2}, {1, 2});
  const Tensor update = Tensor::of<float>({1, 3}, {1, 2, 3});
  EXPECT_EQ(error_of("TensorScatter", {cache, update}, {{"axis", std::int64_t{1}}}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("TensorScatter", {cache, cache}), ErrorCode::kInvalidFile);  // axis -2 is the batch
}

}  // namespace
}  // namespace saccade
