#include <cstdint>

#include "ops/op_values.hpp"
#include "tensor/half.hpp"

namespace saccade {
namespace {

TEST(Pow, RaisesFloats) {
  const Tensor base = Tensor::of<float>({4}, {2, -3, 4, 0});
  expect_tensor<float>(run("Pow", {base, Tensor::scalar(2.0F)}), {4}, {4, 9, 16, 0});
  expect_tensor<float>(run("Pow", {base, Tensor::of<float>({4}, {-1, 3, 0.5F, 0})}), {4}, {0.5F, -27, 2, 1});
  expect_tensor<float>(run("Pow", {base, Tensor::scalar<std::int64_t>(3)}), {4}, {8, -27, 64, 0}, 1e-5);
  expect_tensor<Float16>(run("Pow", {Tensor::of<Float16>({1}, {Float16(3.0F)}), Tensor::scalar(2.0F)}), {1},
                         {Float16(9.0F)});
}

TEST(Pow, KeepsTheBasesType) {
  const Tensor base = Tensor::of<std::int32_t>({4}, {2, -3, 1, -1});
  expect_tensor<std::int32_t>(run("Pow", {base, Tensor::scalar<std::int64_t>(3)}), {4}, {8, -27, 1, -1});
  expect_tensor<std::int32_t>(run("Pow", {base, Tensor::scalar<std::int64_t>(-3)}), {4}, {0, 0, 1, -1});
  expect_tensor<std::int32_t>(run("Pow", {base, Tensor::scalar<std::int64_t>(-2)}), {4}, {0, 0, 1, 1});
  expect_tensor<std::int32_t>(run("Pow", {Tensor::scalar<std::int32_t>(2), Tensor::scalar(0.5F)}), {}, {1});
  expect_tensor<std::int64_t>(run("Pow", {Tensor::scalar<std::int64_t>(3), Tensor::scalar<std::int32_t>(39)}), {},
                              {4052555153018976267});  // exact, which a double is not
  expect_tensor<std::uint8_t>(run("Pow", {Tensor::scalar<std::uint8_t>(3), Tensor::scalar<std::int32_t>(6)}), {},
                              {217});
}

TEST(Pow, BroadcastsAndChecks) {
  expect_tensor<float>(run("Pow", {Tensor::of<float>({2, 1}, {2, 3}), Tensor::of<float>({2}, {1, 2})}), {2, 2},
                       {2, 4, 3, 9});
  EXPECT_EQ(error_of("Pow", {Tensor::scalar(true), Tensor::scalar(1.0F)}), ErrorCode::kUnsupported);
  EXPECT_EQ(error_of("Pow", {Tensor::of<float>({2}, {1, 1}), Tensor::of<float>({3}, {1, 1, 1})}),
            ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
