#include "backends/op_case.hpp"

namespace saccade {
namespace {

constexpr Tolerance kClose{.absolute = 2e-6, .relative = 1e-5};
constexpr Layout kLast = Layout::kChannelsLast;

Tensor list(std::initializer_list<std::int64_t> values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Softmax, AlongEveryAxisOfBothLayouts) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    for (std::int64_t axis = -4; axis < 4; ++axis)
      OpCase(op).input({2, 21, 5, 19}, -9, 9).attribute("axis", axis).check_layouts("vector.softmax", kClose);
}

TEST(Softmax, OfLargeNumbers) {
  OpCase("Softmax")
      .activation(Tensor::of<float>({1, 4}, {1000, 999, -1000, 1000}))
      .check("vector.softmax", Layout::kRowMajor, kClose);
}

TEST(Softmax, OfNothingAndOfOne) {
  OpCase("Softmax").input({0, 5}).check("vector.softmax");
  OpCase("Softmax").input({5, 1}).check("vector.softmax");
}

TEST(LayerNorm, NormalisesTheLastAxes) {
  OpCase("LayerNormalization")
      .input({3, 7, 50})
      .weights({50})
      .weights({50})
      .check("vector.layer_norm", Layout::kRowMajor, kClose);
  OpCase("LayerNormalization")
      .input({3, 4, 5}, 50, 60)
      .weights({4, 5})
      .attribute("axis", std::int64_t{1})
      .check("vector.layer_norm", Layout::kRowMajor, {.absolute = 2e-5, .relative = 1e-5});
}

TEST(RmsNorm, NormalisesTheLastAxes) {
  for (const Shape& scale : {Shape{50}, Shape{1, 1, 50}})
    OpCase("RMSNormalization").input({3, 7, 50}).weights(scale).check("vector.layer_norm", Layout::kRowMajor, kClose);
  OpCase("RMSNormalization")
      .input({3, 4, 5}, 50, 60)
      .weights({4, 5})
      .attribute("axis", std::int64_t{1})
      .attribute("epsilon", 0.5F)
      .check("vector.layer_norm", Layout::kRowMajor, kClose);
}

TEST(RmsNorm, LeavesScalesThatBroadcastToTheReference) {
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 7, 50}).weights({1}).supports("vector.layer_norm"));
  // As many numbers as a line has elements, but one for each line.
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 3}).weights({3, 1}).supports("vector.layer_norm"));
}

TEST(Reduce, LastAxes) {
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
    OpCase(op).input({3, 5, 79}).constant(list({-1})).check("vector.reduce", Layout::kRowMajor, kClose);
    OpCase(op)
        .input({3, 5, 7, 9})
        .constant(list({2, 3}))
        .attribute("keepdims", std::int64_t{0})
        .check("vector.reduce", Layout::kRowMajor, kClose);
  }
}

TEST(Reduce, MiddleAndFirstAxes) {
  OpCase("ReduceMax").input({3, 84, 77}).constant(list({1})).check("vector.reduce");
  OpCase("ReduceMean").input({3, 84, 77}).constant(list({0, 1})).check("vector.reduce", Layout::kRowMajor, kClose);
}

TEST(Reduce, SpatialAxesOfChannelsLast) {
  for (std::int64_t keep : {0, 1})
    OpCase("ReduceMean")
        .input({2, 37, 6, 5})
        .constant(list({2, 3}))
        .attribute("keepdims", keep)
        .check("vector.reduce", kLast, kClose);
  OpCase("ReduceSum").input({2, 37, 6, 5}).constant(list({1})).check("vector.reduce", kLast, kClose);
}

TEST(Reduce, Everything) {
  OpCase("ReduceSum")
      .input({2, 7, 6, 5})
      .absent()
      .attribute("keepdims", std::int64_t{0})
      .check("vector.reduce", kLast, {.absolute = 1e-4, .relative = 1e-5});
}

TEST(Reduce, RefusesAnOrderThatItCanNotWrite) {
  EXPECT_FALSE(OpCase("ReduceSum").input({2, 7, 6, 5}).constant(list({0, 2})).supports("vector.reduce"));
  // A channels-last sum over rows leaves N, W, C; a row-major output wants N, C, W.
  EXPECT_FALSE(OpCase("ReduceSum")
                   .input({2, 7, 6, 5})
                   .constant(list({2}))
                   .output_layout(Layout::kRowMajor)
                   .supports("vector.reduce", kLast));
}

TEST(GlobalPool, InBothLayouts) {
  OpCase("GlobalAveragePool").input({2, 37, 7, 7}).check_layouts("vector.reduce", kClose);
  OpCase("GlobalAveragePool")
      .input({2, 37, 7, 7})
      .output_layout(Layout::kRowMajor)
      .check("vector.reduce", kLast, kClose);
  OpCase("GlobalMaxPool").input({2, 37, 7, 7}).check_layouts("vector.reduce", kClose);
}

}  // namespace
}  // namespace saccade
