#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kProduct{.cpu = "onednn.matmul", .cuda = "direct.matmul"};
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};

struct Operands {
  Shape left;
  Shape right;
};

const Operands kOperands[] = {{{5, 7}, {7, 9}},
                              {{2, 3, 5, 7}, {7, 9}},
                              {{2, 3, 5, 7}, {2, 3, 7, 9}},
                              {{5, 7}, {2, 3, 7, 9}},
                              {{2, 1, 5, 7}, {3, 7, 9}},
                              {{7}, {7, 9}},
                              {{5, 7}, {7}},
                              {{7}, {7}},
                              {{3, 5, 7}, {7}},
                              {{7}, {3, 7, 9}}};

using Integers = std::vector<std::int64_t>;

constexpr Tolerance kDirectHalf{.absolute = 1e-2, .relative = 1e-2};

SACCADE_EVERY_BACKEND(MatMul);
SACCADE_EVERY_BACKEND(Gemm);

TEST_P(MatMul, OfTwoActivations) {
  for (const auto& [left, right] : kOperands) OpCase("MatMul").input(left).input(right).check(by(kProduct), kClose);
}

TEST_P(MatMul, ByAConstant) {
  for (const auto& [left, right] : kOperands)
    OpCase("MatMul").input(left).constant(right, -1, 1).check(by(kProduct), kClose);
}

TEST_P(MatMul, WithPostOps) {
  for (const auto& [left, right] : kOperands)
    OpCase("MatMul")
        .input(left)
        .constant(right, -1, 1)
        .absent()
        .post("Gelu")
        .post_with_operand("Add")
        .check(by(kProduct), kClose);
}

TEST_P(MatMul, AddsABias) {
  OpCase("MatMul").input({2, 5, 7}).constant({7, 9}, -1, 1).constant({9}, -1, 1).check(by(kProduct), kClose);
  OpCase("MatMul").input({2, 5, 7}).input({2, 7, 9}).constant({9}, -1, 1).check(by(kProduct), kClose);
}

TEST_P(Gemm, TransposesScalesAndAdds) {
  for (std::int64_t turn_left : {0, 1}) {
    for (std::int64_t turn_right : {0, 1}) {
      OpCase("Gemm")
          .input(turn_left == 0 ? Shape{5, 7} : Shape{7, 5})
          .constant(turn_right == 0 ? Shape{7, 9} : Shape{9, 7}, -1, 1)
          .constant({9}, -1, 1)
          .attribute("transA", turn_left)
          .attribute("transB", turn_right)
          .attribute("alpha", 0.5F)
          .attribute("beta", 2.0F)
          .check(by(kProduct), kClose);
    }
  }
}

TEST_P(Gemm, MultipliesActivations) {
  OpCase("Gemm").input({5, 7}).input({9, 7}).attribute("transB", std::int64_t{1}).check(by(kProduct), kClose);
}

TEST_P(MatMul, KeepsThePostOpsOfOneKindApart) {
  OpCase("MatMul")
      .input({5, 7})
      .constant({7, 9}, -1, 1)
      .post("LeakyRelu", 0.7F)
      .post("Relu")
      .check(by(kProduct), kClose);
}

TEST_P(MatMul, BroadcastsAndTakesOtherTypes) {
  OpCase("MatMul").input({5, 7}).input({7, 6}).check(by("", "direct.matmul"), kClose);
  OpCase("MatMul").input({2, 3, 5, 7}).constant({7, 6}).constant({6}).check_layouts(by("", "direct.matmul"), kClose);
  OpCase("MatMul").input({3, 1, 4, 5}).input({2, 5, 3}).post("Silu").check_layouts(by("", "direct.matmul"), kClose);
  OpCase("MatMul").input({5}).input({2, 5, 3}).check(by("", "direct.matmul"), kClose);
  OpCase("MatMul").input({2, 4, 5}).input({5}).check(by("", "direct.matmul"), kClose);
  OpCase("MatMul").input({5}).input({5}).check(by("", "direct.matmul"), kClose);
  OpCase("MatMul")
      .input(DType::kFloat16, {6, 9})
      .input(DType::kFloat16, {9, 4})
      .check(by("", "direct.matmul"), kDirectHalf);
  OpCase("MatMul")
      .input(DType::kInt32, {3, 4}, -90000, 90000)
      .input(DType::kInt32, {4, 5}, -90000, 90000)
      .check(by("", "direct.matmul"));
}

TEST_P(Gemm, AddsActivationsAndTakesIntegers) {
  OpCase("Gemm").input({5, 7}).input({7, 6}).input({6}).check(by("", "direct.matmul"), kClose);
  OpCase("Gemm")
      .input({7, 5})
      .input({6, 7})
      .input({5, 1})
      .attribute("transA", std::int64_t{1})
      .attribute("transB", std::int64_t{1})
      .attribute("alpha", 0.5F)
      .attribute("beta", -2.0F)
      .check(by("", "direct.matmul"), kClose);
  OpCase("Gemm").input(DType::kInt64, {3, 4}, -9, 9).input(DType::kInt64, {4, 2}, -9, 9).check(by("", "direct.matmul"));
}

}  // namespace
}  // namespace saccade
