#include <limits>
#include <random>

#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kArgMax{.cpu = "vector.arg_max", .cuda = "lines.reduction"};
constexpr Tactics kReduce{.cpu = "vector.reduce", .cuda = "lines.reduction"};
constexpr Tolerances kClose{.cpu = {.absolute = 2e-6, .relative = 1e-5}, .cuda = {.absolute = 1e-4, .relative = 5e-5}};
constexpr Layout kLast = Layout::kChannelsLast;

Tensor list(std::initializer_list<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

OpCase arg(const char* op, std::int64_t axis, std::int64_t last) {
  return std::move(OpCase(op).attribute("axis", axis).attribute("select_last_index", last));
}

using Integers = std::vector<std::int64_t>;

constexpr Tolerance kReducedSums{.absolute = 1e-4, .relative = 5e-5};

OpCase reduction(const char* op, DType dtype, const Shape& shape, const Integers& axes) {
  const bool logarithm = op == std::string("ReduceLogSum");
  OpCase made(op);
  made.input(dtype, shape, logarithm ? 1.0F : -3.0F, 3);
  if (!axes.empty()) made.constant(Tensor::of<std::int64_t>({static_cast<std::int64_t>(axes.size())}, axes));
  return made;
}

SACCADE_EVERY_BACKEND(Reductions);
SACCADE_EVERY_BACKEND(GlobalPooling);
SACCADE_EVERY_BACKEND(ArgMax);

TEST_P(Reductions, LastAxes) {
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
    OpCase(op).input({3, 5, 79}).constant(list({-1})).check(by(kReduce), within(kClose));
    for (const std::int64_t count : {1, 6, 15, 16})
      OpCase(op).input({7, 33, count}).constant(list({-1})).check(by(kReduce), within(kClose));
    OpCase(op)
        .input({3, 5, 7, 9})
        .constant(list({2, 3}))
        .attribute("keepdims", std::int64_t{0})
        .check(by(kReduce), within(kClose));
  }
}

TEST_P(Reductions, MiddleAndFirstAxes) {
  OpCase("ReduceMax").input({3, 84, 77}).constant(list({1})).check(by(kReduce));
  OpCase("ReduceMean").input({3, 84, 77}).constant(list({0, 1})).check(by(kReduce), within(kClose));
}

TEST_P(Reductions, SpatialAxesOfChannelsLast) {
  for (std::int64_t keep : {0, 1})
    OpCase("ReduceMean")
        .input({2, 37, 6, 5})
        .constant(list({2, 3}))
        .attribute("keepdims", keep)
        .check(by(kReduce), within(kClose), kLast);
  OpCase("ReduceSum").input({2, 37, 6, 5}).constant(list({1})).check(by(kReduce), within(kClose), kLast);
}

TEST_P(Reductions, Everything) {
  OpCase("ReduceSum")
      .input({2, 7, 6, 5})
      .absent()
      .attribute("keepdims", std::int64_t{0})
      .check(by(kReduce), {.absolute = 1e-4, .relative = 1e-5}, kLast);
}

TEST_P(GlobalPooling, InBothLayouts) {
  OpCase("GlobalAveragePool").input({2, 37, 7, 7}).check_layouts(by(kReduce), within(kClose));
  OpCase("GlobalAveragePool")
      .input({2, 37, 7, 7})
      .output_layout(Layout::kRowMajor)
      .check(by(kReduce), within(kClose), kLast);
  OpCase("GlobalMaxPool").input({2, 37, 7, 7}).check_layouts(by(kReduce), within(kClose));
}

TEST_P(ArgMax, AgreesAlongEveryAxis) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (std::int64_t axis = 0; axis < 3; ++axis) arg(op, axis, 0).input({3, 21, 143}).check(by(kArgMax));
}

TEST_P(ArgMax, TakesTheFirstOrTheLastOfEquals) {
  Tensor ties(DType::kFloat32, {75, 75});
  for (std::size_t i = 0; i < ties.data<float>().size(); ++i) ties.data<float>()[i] = static_cast<float>(i * 7 % 3);
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const std::int64_t axis : {0, 1})
      for (const std::int64_t last : {0, 1}) arg(op, axis, last).input(ties).check(by(kArgMax));
}

TEST_P(ArgMax, AgreesOnRandomShapes) {
  std::mt19937 random(5);
  for (int round = 0; round < (is_on(TestedBackend::kCuda) ? 5 : 40); ++round) {
    Shape shape;
    for (int i = 0; i < 3; ++i) shape.push_back(1 + static_cast<int>(random() % 70));
    SCOPED_TRACE(testing::Message() << shape[0] << "x" << shape[1] << "x" << shape[2]);
    arg(round % 2 == 0 ? "ArgMax" : "ArgMin", static_cast<int>(random() % 3), static_cast<int>(random() % 2))
        .input(random_tensor(shape, -9, 9, static_cast<std::uint32_t>(round)))
        .check(by(kArgMax));
  }
}

TEST_P(ArgMax, NanIsTheExtreme) {
  Tensor tensor = random_tensor({40, 40}, -1, 1, 1);
  for (const std::size_t at : {5U, 39U, 1000U, 1001U, 1599U})
    tensor.data<float>()[at] = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const std::int64_t axis : {0, 1})
      for (const std::int64_t last : {0, 1}) arg(op, axis, last).input(tensor).check(by(kArgMax));
}

TEST_P(ArgMax, TakesLinesOfOneAndScalars) {
  arg("ArgMax", 1, 0).input({3, 1, 5}).check(by(kArgMax));
  arg("ArgMax", 0, 0).attribute("keepdims", std::int64_t{0}).input({2}).check(by(kArgMax));
}

TEST_P(Reductions, ReduceByEveryRule) {
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    reduction(op, DType::kFloat32, {3, 60}, {1}).check(by("", "lines.reduction"), kReducedSums);
    reduction(op, DType::kInt32, {4, 9}, {0}).check(by("", "lines.reduction"), {1e-9, 0});
  }
}

TEST_P(Reductions, ReduceAnyAxes) {
  for (const Integers& axes :
       {Integers{0}, Integers{1}, Integers{3}, Integers{2, 3}, Integers{0, 2}, Integers{1, -1}, Integers{}})
    reduction("ReduceMean", DType::kFloat32, {2, 6, 5, 4}, axes).check_layouts(by("", "lines.reduction"), kReducedSums);
  reduction("ReduceSum", DType::kFloat32, {2, 40, 5, 4}, {2, 3})
      .attribute("keepdims", std::int64_t{0})
      .post("Relu")
      .check(by("", "lines.reduction"), kReducedSums);
  reduction("ReduceMax", DType::kFloat32, {2, 3, 5, 4}, {1})
      .attribute("keepdims", std::int64_t{0})
      .check_layouts(by("", "lines.reduction"), kReducedSums);
  reduction("ReduceSum", DType::kFloat32, {2, 3}, {})
      .attribute("noop_with_empty_axes", std::int64_t{1})
      .check(by("", "lines.reduction"), kReducedSums);
}

TEST_P(Reductions, ReduceLongLinesAndOtherTypes) {
  reduction("ReduceSum", DType::kFloat32, {2, 5000}, {1}).check(by("", "lines.reduction"), {2e-3, 1e-4});
  reduction("ReduceSum", DType::kFloat32, {700, 40}, {0}).check(by("", "lines.reduction"), {1e-3, 1e-4});
  reduction("ReduceMean", DType::kFloat16, {5, 70}, {1}).check(by("", "lines.reduction"), {2e-3, 2e-3});
  reduction("ReduceMax", DType::kBool, {5, 7}, {1}).check(by("", "lines.reduction"));
  reduction("ReduceMean", DType::kInt64, {5, 7}, {1}).check(by("", "lines.reduction"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OpCase("ReduceMax")
      .input(Tensor::of<float>({2, 3}, {1, nan, 2, 4, 3, 1}))
      .constant(Tensor::of<std::int64_t>({1}, {1}))
      .check(by("", "lines.reduction"));
}

TEST_P(Reductions, FindPlaces) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (std::int64_t last : {0, 1})
      OpCase(op)
          .input(DType::kInt32, {3, 50, 4}, 0, 5)
          .attribute("axis", std::int64_t{1})
          .attribute("select_last_index", last)
          .attribute("keepdims", last)
          .check_layouts(by("", "lines.reduction"));
  OpCase("ArgMax").input({2, 19, 6, 5}).attribute("axis", std::int64_t{1}).check_layouts(by("", "lines.reduction"));
  OpCase("ArgMax").input({4, 1200}).attribute("axis", std::int64_t{-1}).check(by("", "lines.reduction"));
}

TEST_P(Reductions, SumUpToEachElement) {
  for (std::int64_t way : {0, 1, 2, 3})
    OpCase("CumSum")
        .input({3, 7, 5})
        .constant(Tensor::scalar<std::int64_t>(1))
        .attribute("exclusive", way % 2)
        .attribute("reverse", way / 2)
        .check_layouts(by("", "lines.reduction"));
  OpCase("CumProd")
      .input(DType::kInt32, {4, 5}, -9, 9)
      .constant(Tensor::scalar<std::int64_t>(-1))
      .check(by("", "lines.reduction"));
}

}  // namespace
}  // namespace saccade
