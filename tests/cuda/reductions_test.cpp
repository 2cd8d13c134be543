#include "op_case/op_case.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr Tolerance kReducedSums{.absolute = 1e-4, .relative = 5e-5};

OpCase reduction(const char* op, DType dtype, const Shape& shape, const Integers& axes) {
  const bool logarithm = op == std::string("ReduceLogSum");
  OpCase made(op);
  made.input(dtype, shape, logarithm ? 1.0F : -3.0F, 3);
  if (!axes.empty()) made.constant(Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes));
  return made;
}

TEST(CudaReductions, ReduceByEveryRule) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    reduction(op, DType::kFloat32, {3, 60}, {1}).check(on_cuda("lines.reduction"), kReducedSums);
    reduction(op, DType::kInt32, {4, 9}, {0}).check(on_cuda("lines.reduction"), {1e-9, 0});
  }
}

TEST(CudaReductions, ReduceAnyAxes) {
  for (const Integers& axes :
       {Integers{0}, Integers{1}, Integers{3}, Integers{2, 3}, Integers{0, 2}, Integers{1, -1}, Integers{}})
    reduction("ReduceMean", DType::kFloat32, {2, 6, 5, 4}, axes)
        .check_layouts(on_cuda("lines.reduction"), kReducedSums);
  reduction("ReduceSum", DType::kFloat32, {2, 40, 5, 4}, {2, 3})
      .attribute("keepdims", std::int64_t{0})
      .post("Relu")
      .check(on_cuda("lines.reduction"), kReducedSums);
  reduction("ReduceMax", DType::kFloat32, {2, 3, 5, 4}, {1})
      .attribute("keepdims", std::int64_t{0})
      .check_layouts(on_cuda("lines.reduction"), kReducedSums);
  reduction("ReduceSum", DType::kFloat32, {2, 3}, {})
      .attribute("noop_with_empty_axes", std::int64_t{1})
      .check(on_cuda("lines.reduction"), kReducedSums);
}

TEST(CudaReductions, ReduceLongLinesAndOtherTypes) {
  reduction("ReduceSum", DType::kFloat32, {2, 5000}, {1}).check(on_cuda("lines.reduction"), {2e-3, 1e-4});
  reduction("ReduceSum", DType::kFloat32, {700, 40}, {0}).check(on_cuda("lines.reduction"), {1e-3, 1e-4});
  reduction("ReduceMean", DType::kFloat16, {5, 70}, {1}).check(on_cuda("lines.reduction"), {2e-3, 2e-3});
  reduction("ReduceMax", DType::kBool, {5, 7}, {1}).check(on_cuda("lines.reduction"));
  reduction("ReduceMean", DType::kInt64, {5, 7}, {1}).check(on_cuda("lines.reduction"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("ReduceMax")
      .input(Tensor::of<float>({2, 3}, {1, nan, 2, 4, 3, 1}))
      .constant(Tensor::of<std::int64_t>({1}, {1}))
      .check(on_cuda("lines.reduction"));
}

TEST(CudaReductions, FindPlaces) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (std::int64_t last : {0, 1})
      OpCase(op)
          .input(DType::kInt32, {3, 50, 4}, 0, 5)
          .attribute("axis", std::int64_t{1})
          .attribute("select_last_index", last)
          .attribute("keepdims", last)
          .check_layouts(on_cuda("lines.reduction"));
  OpCase("ArgMax").input({2, 19, 6, 5}).attribute("axis", std::int64_t{1}).check_layouts(on_cuda("lines.reduction"));
  OpCase("ArgMax").input({4, 1200}).attribute("axis", std::int64_t{-1}).check(on_cuda("lines.reduction"));
}

TEST(CudaReductions, SumUpToEachElement) {
  for (std::int64_t way : {0, 1, 2, 3})
    OpCase("CumSum")
        .input({3, 7, 5})
        .constant(Tensor::scalar<std::int64_t>(1))
        .attribute("exclusive", way % 2)
        .attribute("reverse", way / 2)
        .check_layouts(on_cuda("lines.reduction"));
  OpCase("CumProd")
      .input(DType::kInt32, {4, 5}, -9, 9)
      .constant(Tensor::scalar<std::int64_t>(-1))
      .check(on_cuda("lines.reduction"));
}

}  // namespace
}  // namespace saccade
