#include <array>
#include <bit>

#include "op_case/op_case.hpp"
#include "ops/core/values.hpp"
#include "support/specials.hpp"

// Operators whose float32 kernels convert bfloat16 as they read it.
namespace saccade {
namespace {

constexpr Tolerance kClose{.absolute = 1e-2, .relative = 1e-2};
using Integers = std::vector<std::int64_t>;

OpCase half(const OpCase& made) { return made.in(DType::kBFloat16); }

TEST(HalfRows, OfElementwiseOperators) {
  const On on = on_cpu("vector.elementwise");
  for (const char* op : {"Relu", "Sigmoid", "Silu", "HardSwish", "Tanh", "Abs"})
    half(OpCase(op, std::string_view(op) == "Silu" ? "saccade" : "").input({3, 7, 5000})).check(on, kClose);
  half(OpCase("Add").input({2, 40, 5, 7}).input({2, 40, 5, 7})).check_layouts(on, kClose);
  half(OpCase("Mul").input({2, 40, 5, 7}).input({2, 40, 1, 1})).check_layouts(on, kClose);
  half(OpCase("Mul").input({2, 1, 100, 8, 6}).input({2, 1, 100, 1, 6})).check(on, kClose);
  half(OpCase("Sub").input({4, 300}).input({4, 1}).post("Relu")).check(on, kClose);
}

/// Post-ops of kernels that can't fuse them.
TEST(HalfRows, OfPostOpsInPlace) {
  half(OpCase("Softmax").input({5, 70}).post("Relu").post_with_operand("Add")).check(on_cpu("vector.softmax"), kClose);
  half(OpCase("Transpose").input({5, 70}).post("Silu").post_with_operand("Mul")).check(on_cpu("vector.move"), kClose);
}

TEST(HalfRows, OfConversions) {
  const auto cast = [](DType from, DType to) {
    return OpCase("Cast").input(from, {3, 37, 41}).attribute("to", onnx_of_dtype(to));
  };
  cast(DType::kFloat32, DType::kBFloat16).check_layouts(on_cpu("vector.convert"), kExact);
  cast(DType::kBFloat16, DType::kFloat32).check_layouts(on_cpu("vector.convert"), kExact);
  OpCase("Cast")
      .input(with_few_specials(random_tensor({999}, -1e30F, 1e30F, 3), 5))
      .attribute("to", onnx_of_dtype(DType::kBFloat16))
      .check(on_cpu("vector.convert"), kExact);
}

/// Every exponent with mantissas on both sides of a tie: denormal numbers, which the processor's conversion takes as
/// zero, alone and among others.
TEST(HalfRows, OfConversionsOfAllExponents) {
  constexpr std::array<std::uint32_t, 6> kMantissas{0, 1, 0x8000, 0x17FFF, 0x18000, 0x7FFFFF};
  Tensor numbers(DType::kFloat32, {512 * 6 + 5});
  const auto elements = numbers.data<float>();
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i / 6 % 512) << 23 | kMantissas[i % 6]);
  OpCase("Cast")
      .input(std::move(numbers))
      .attribute("to", onnx_of_dtype(DType::kBFloat16))
      .check(on_cpu("vector.convert"), kExact);
}

TEST(HalfRows, OfSoftmax) {
  half(OpCase("Softmax").input({5, 70})).check(on_cpu("vector.softmax"), kClose);
  for (const std::int64_t count : {2, 6, 15, 16})
    half(OpCase("Softmax").input({3, 67, count})).check(on_cpu("vector.softmax"), kClose);
  half(OpCase("LogSoftmax").input({2, 3, 4000})).check(on_cpu("vector.softmax"), {.absolute = 5e-2, .relative = 1e-2});
  EXPECT_FALSE(half(OpCase("Softmax").input({5, 5000})).supports(on_cpu("vector.softmax")));
  EXPECT_FALSE(
      half(OpCase("Softmax").input({5, 7, 3}).attribute("axis", std::int64_t{1})).supports(on_cpu("vector.softmax")));
}

TEST(HalfRows, OfNormalisations) {
  const On on = on_cpu("vector.layer_norm");
  const Tolerance close{.absolute = 3e-2, .relative = 2e-2};
  half(OpCase("LayerNormalization").input({2, 9, 384}).constant({384}).constant({384})).check(on, close);
  half(OpCase("LayerNormalization").input({2, 9, 33}).constant({33})).check(on, close);
  half(OpCase("RMSNormalization").input({4, 100}).constant({100})).check(on, close);
}

TEST(HalfRows, OfReductions) {
  const On on = on_cpu("vector.reduce");
  // Of one sign, so that sums are not near 0, where any tolerance is wide.
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool"})
    half(OpCase(op).input({2, 150, 13, 9}, 1, 2)).check_layouts(on, kClose);
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"}) {
    half(OpCase(op).input({3, 5, 3000}, 1, 2).constant(Tensor::of<std::int64_t>({1}, {2}))).check(on, kClose);
    for (const std::int64_t count : {1, 6, 15, 16})
      half(OpCase(op).input({7, 33, count}, 1, 2).constant(Tensor::of<std::int64_t>({1}, {2}))).check(on, kClose);
    half(OpCase(op).input({3, 500, 70}, 1, 2).constant(Tensor::of<std::int64_t>({1}, {1}))).check(on, kClose);
  }
  EXPECT_FALSE(half(OpCase("ReduceL2").input({3, 5, 30}).constant(Tensor::of<std::int64_t>({1}, {2}))).supports(on));
}

TEST(HalfRows, OfResize) {
  const auto resize = [](const char* mode, const char* coordinates) {
    return half(OpCase("Resize")
                    .input({1, 150, 7, 9})
                    .absent()
                    .absent()
                    .constant(Tensor::of<std::int64_t>({4}, {1, 150, 14, 13}))
                    .attribute("mode", std::string(mode))
                    .attribute("coordinate_transformation_mode", std::string(coordinates)));
  };
  resize("nearest", "asymmetric").check(on_cpu("vector.resize"), kExact, Layout::kChannelsLast);
  resize("linear", "half_pixel").check(on_cpu("vector.resize"), kClose, Layout::kChannelsLast);
  resize("cubic", "half_pixel").check(on_cpu("vector.resize"), kClose, Layout::kChannelsLast);
}

}  // namespace
}  // namespace saccade
