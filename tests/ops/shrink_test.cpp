#include "ops/run_op.hpp"

namespace saccade {
namespace {

const Tensor kInput = Tensor::of<float>({5}, {-2, -0.5F, 0, 1, 3});

TEST(Shrink, CutsOffSmallValues) {
  const OpCall call{.op = "Shrink", .inputs = {kInput}, .attributes = {{"lambd", 0.75F}}};
  expect_tensor<float>(call.run()[0], {5}, {-2, 0, 0, 1, 3});
}

TEST(Shrink, BringsTheOthersNearerToZero) {
  const OpCall call{.op = "Shrink", .inputs = {kInput}, .attributes = {{"lambd", 1.5F}, {"bias", 1.5F}}};
  expect_tensor<float>(call.run()[0], {5}, {-0.5F, 0, 0, 0, 1.5F});
}

TEST(Shrink, TruncatesIntegers) {
  const Tensor x = Tensor::of<std::int32_t>({4}, {-3, -1, 1, 3});
  const OpCall call{.op = "Shrink", .inputs = {x}, .attributes = {{"lambd", 1.5F}, {"bias", 1.5F}}};
  expect_tensor<std::int32_t>(call.one(), {4}, {-1, 0, 0, 1});
  const Tensor byte = Tensor::of<std::uint8_t>({2}, {0, 200});
  const OpCall grows{.op = "Shrink", .inputs = {byte}, .attributes = {{"bias", -100.0F}}};
  expect_tensor<std::uint8_t>(grows.one(), {2}, {0, 255});
}

}  // namespace
}  // namespace saccade
