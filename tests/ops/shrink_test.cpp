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

TEST(Shrink, RefusesIntegers) {
  const OpCall call{.op = "Shrink", .inputs = {Tensor::of<std::int64_t>({1}, {3})}};
  EXPECT_EQ(call.error().first, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace saccade
