#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.matmul");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};

void check(const OpCase& product) { product.check(kTactic, kClose); }

TEST(VectorMatMul, OfRandomSizes) {
  RandomSizes any(11);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t m = any(1, 70);
    const std::int64_t k = any(1, 90);
    const std::int64_t n = any(1, 70);
    const bool is_constant = round % 2 == 0;
    OpCase product("MatMul");
    product.input(round % 3 == 0 ? Shape{any(1, 3), m, k} : Shape{m, k});
    if (is_constant)
      product.constant({k, n}, -1, 1);
    else
      product.input({k, n});
    if (round % 4 == 0) product.post("Silu");
    if (round % 5 == 0) product.absent().post_with_operand("Add");
    check(product);
  }
}

/// Batches of right operands, and operands that broadcast.
TEST(VectorMatMul, OfBatches) {
  check(OpCase("MatMul").input({3, 2, 19, 33}).input({3, 2, 33, 21}));
  check(OpCase("MatMul").input({2, 19, 33}).input({3, 1, 33, 21}));
  check(OpCase("MatMul").input({1, 19, 33}).input({4, 33, 21}).post("Relu"));
  check(OpCase("MatMul").input({2, 3, 19, 33}).constant({3, 33, 21}, -1, 1).absent().post_with_operand("Add"));
  check(OpCase("MatMul").input({19, 33}).input({2, 33, 18}));
}

TEST(VectorMatMul, OfGemm) {
  check(OpCase("Gemm")
            .input({7, 40})
            .constant({40, 50}, -1, 1)
            .constant({50}, -1, 1)
            .attribute("alpha", 0.5F)
            .attribute("beta", 2.0F));
  check(OpCase("Gemm")
            .input({7, 40})
            .constant({50, 40}, -1, 1)
            .constant({1, 50}, -1, 1)
            .attribute("transB", std::int64_t{1})
            .post("Relu"));
  check(OpCase("Gemm").input({5, 40}).input({40, 9}));
}

/// MatMul has no attributes of Gemm's; files may have any.
TEST(VectorMatMul, IgnoresAttributesOfGemm) {
  check(OpCase("MatMul")
            .input({7, 40})
            .constant({40, 40}, -1, 1)
            .attribute("transB", std::int64_t{1})
            .attribute("alpha", 0.5F));
}

TEST(VectorMatMul, LeavesFewColumnsAndRowsToOneDnn) {
  const auto chosen = [](const OpCase& product) { return product.preferred_tactic(TestedBackend::kCpu); };
  EXPECT_EQ(chosen(OpCase("MatMul").input({50, 64}).constant({64, 1}, -1, 1)), "onednn.matmul");
  EXPECT_EQ(chosen(OpCase("MatMul").input({1, 64}).input({64, 64})), "onednn.matmul");
}

/// A panel that does not fit into the cache is read in sections, in runs that pack it, too.
TEST(VectorMatMul, OfLongSums) {
  check(OpCase("MatMul").input({9, 5000}, -0.1F, 0.1F).constant({5000, 40}, -0.1F, 0.1F).post("Relu"));
  check(OpCase("MatMul").input({2, 9, 5000}, -0.1F, 0.1F).input({2, 5000, 40}, -0.1F, 0.1F));
}

TEST(VectorMatMul, OnTwoThreads) {
  OpCase("MatMul")
      .input({4, 100, 64})
      .input({4, 64, 100})
      .post("Silu")
      .check_two_threads(kTactic, Layout::kRowMajor, kClose);
  OpCase("MatMul").input({200, 300}).constant({300, 500}, -1, 1).check_two_threads(kTactic, Layout::kRowMajor, kClose);
}

TEST(VectorMatMul, KeepsNan) {
  OpCase("MatMul")
      .input(with_few_specials(random_tensor({20, 50}, -1, 1, 5), 3))
      .constant({50, 30}, -1, 1)
      .post("Relu")
      .check(kTactic, {.absolute = 1e-3, .relative = 1e-3});
}

TEST(VectorMatMul, RefusesWhatItHasNoLoopsFor) {
  const auto gemm = [] { return OpCase("Gemm").input({6, 8}); };
  EXPECT_TRUE(gemm().input({8, 5}).supports(kTactic));
  EXPECT_FALSE(gemm().input({5, 8}).attribute("transB", std::int64_t{1}).supports(kTactic));
  EXPECT_FALSE(gemm().input({6, 5}).attribute("transA", std::int64_t{1}).supports(kTactic));
  EXPECT_FALSE(gemm().input({8, 5}).input({5}).supports(kTactic));
  EXPECT_FALSE(gemm().constant({8, 5}, -1, 1).constant({6, 5}, -1, 1).supports(kTactic));
  EXPECT_FALSE(OpCase("MatMul").input({8}).input({8, 5}).supports(kTactic));
}

}  // namespace
}  // namespace saccade
