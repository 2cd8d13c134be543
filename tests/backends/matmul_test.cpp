#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.matmul");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};

struct Operands {
  Shape left;
  Shape right;
};

class MatMulTest : public testing::TestWithParam<Operands> {};

TEST_P(MatMulTest, OfTwoActivations) {
  OpCase("MatMul").input(GetParam().left).input(GetParam().right).check(kTactic, kClose);
}

TEST_P(MatMulTest, ByAConstant) {
  OpCase("MatMul").input(GetParam().left).constant(GetParam().right, -1, 1).check(kTactic, kClose);
}

TEST_P(MatMulTest, WithPostOps) {
  OpCase("MatMul")
      .input(GetParam().left)
      .constant(GetParam().right, -1, 1)
      .absent()
      .post("Gelu")
      .post_with_operand("Add")
      .check(kTactic, kClose);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MatMulTest,
                         testing::Values(Operands{{5, 7}, {7, 9}}, Operands{{2, 3, 5, 7}, {7, 9}},
                                         Operands{{2, 3, 5, 7}, {2, 3, 7, 9}}, Operands{{5, 7}, {2, 3, 7, 9}},
                                         Operands{{2, 1, 5, 7}, {3, 7, 9}}, Operands{{7}, {7, 9}},
                                         Operands{{5, 7}, {7}}, Operands{{7}, {7}}, Operands{{3, 5, 7}, {7}},
                                         Operands{{7}, {3, 7, 9}}));

TEST(MatMul, AddsABias) {
  OpCase("MatMul").input({2, 5, 7}).constant({7, 9}, -1, 1).constant({9}, -1, 1).check(kTactic, kClose);
  OpCase("MatMul").input({2, 5, 7}).input({2, 7, 9}).constant({9}, -1, 1).check(kTactic, kClose);
}

TEST(MatMul, RefusesChannelsLast) {
  EXPECT_FALSE(OpCase("MatMul").input({2, 5, 7}).constant({7, 9}, -1, 1).supports(kTactic, Layout::kChannelsLast));
}

TEST(Gemm, TransposesScalesAndAdds) {
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
          .check(kTactic, kClose);
    }
  }
}

TEST(Gemm, MultipliesActivations) {
  OpCase("Gemm").input({5, 7}).input({9, 7}).attribute("transB", std::int64_t{1}).check(kTactic, kClose);
}

TEST(Gemm, LeavesAMatrixOfBiasesToTheReference) {
  EXPECT_FALSE(OpCase("Gemm").input({5, 7}).constant({7, 9}, -1, 1).constant({5, 9}, -1, 1).supports(kTactic));
}

TEST(MatMul, KeepsThePostOpsOfOneKindApart) {
  OpCase("MatMul").input({5, 7}).constant({7, 9}, -1, 1).post("LeakyRelu", 0.7F).post("Relu").check(kTactic, kClose);
}

}  // namespace
}  // namespace saccade
