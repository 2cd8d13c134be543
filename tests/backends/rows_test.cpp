#include "op_case/op_case.hpp"

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
      OpCase(op).input({2, 21, 5, 19}, -9, 9).attribute("axis", axis).check_layouts(on_cpu("vector.softmax"), kClose);
}

TEST(Softmax, OfLargeNumbers) {
  OpCase("Softmax").input(Tensor::of<float>({1, 4}, {1000, 999, -1000, 1000})).check(on_cpu("vector.softmax"), kClose);
}

TEST(Softmax, OfNothingAndOfOne) {
  OpCase("Softmax").input({0, 5}).check(on_cpu("vector.softmax"));
  OpCase("Softmax").input({5, 1}).check(on_cpu("vector.softmax"));
}

TEST(LayerNorm, NormalisesTheLastAxes) {
  OpCase("LayerNormalization")
      .input({3, 7, 50})
      .constant({50}, -1, 1)
      .constant({50}, -1, 1)
      .check(on_cpu("vector.layer_norm"), kClose);
  OpCase("LayerNormalization")
      .input({3, 4, 5}, 50, 60)
      .constant({4, 5}, -1, 1)
      .attribute("axis", std::int64_t{1})
      .check(on_cpu("vector.layer_norm"), {.absolute = 2e-5, .relative = 1e-5});
}

TEST(RmsNorm, NormalisesTheLastAxes) {
  for (const Shape& scale : {Shape{50}, Shape{1, 1, 50}})
    OpCase("RMSNormalization").input({3, 7, 50}).constant(scale, -1, 1).check(on_cpu("vector.layer_norm"), kClose);
  OpCase("RMSNormalization")
      .input({3, 4, 5}, 50, 60)
      .constant({4, 5}, -1, 1)
      .attribute("axis", std::int64_t{1})
      .attribute("epsilon", 0.5F)
      .check(on_cpu("vector.layer_norm"), kClose);
}

TEST(RmsNorm, LeavesScalesThatBroadcastToTheReference) {
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 7, 50}).constant({1}, -1, 1).supports(on_cpu("vector.layer_norm")));
  // As many numbers as a line has elements, but one for each line.
  EXPECT_FALSE(OpCase("RMSNormalization").input({3, 3}).constant({3, 1}, -1, 1).supports(on_cpu("vector.layer_norm")));
}

TEST(Reduce, LastAxes) {
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) {
    OpCase(op).input({3, 5, 79}).constant(list({-1})).check(on_cpu("vector.reduce"), kClose);
    OpCase(op)
        .input({3, 5, 7, 9})
        .constant(list({2, 3}))
        .attribute("keepdims", std::int64_t{0})
        .check(on_cpu("vector.reduce"), kClose);
  }
}

TEST(Reduce, MiddleAndFirstAxes) {
  OpCase("ReduceMax").input({3, 84, 77}).constant(list({1})).check(on_cpu("vector.reduce"));
  OpCase("ReduceMean").input({3, 84, 77}).constant(list({0, 1})).check(on_cpu("vector.reduce"), kClose);
}

TEST(Reduce, SpatialAxesOfChannelsLast) {
  for (std::int64_t keep : {0, 1})
    OpCase("ReduceMean")
        .input({2, 37, 6, 5})
        .constant(list({2, 3}))
        .attribute("keepdims", keep)
        .check(on_cpu("vector.reduce"), kClose, kLast);
  OpCase("ReduceSum").input({2, 37, 6, 5}).constant(list({1})).check(on_cpu("vector.reduce"), kClose, kLast);
}

TEST(Reduce, Everything) {
  OpCase("ReduceSum")
      .input({2, 7, 6, 5})
      .absent()
      .attribute("keepdims", std::int64_t{0})
      .check(on_cpu("vector.reduce"), {.absolute = 1e-4, .relative = 1e-5}, kLast);
}

TEST(Reduce, RefusesAnOrderThatItCanNotWrite) {
  EXPECT_FALSE(OpCase("ReduceSum").input({2, 7, 6, 5}).constant(list({0, 2})).supports(on_cpu("vector.reduce")));
  // A channels-last sum over rows leaves N, W, C; a row-major output wants N, C, W.
  EXPECT_FALSE(OpCase("ReduceSum")
                   .input({2, 7, 6, 5})
                   .constant(list({2}))
                   .output_layout(Layout::kRowMajor)
                   .supports(on_cpu("vector.reduce"), kLast));
}

TEST(GlobalPool, InBothLayouts) {
  OpCase("GlobalAveragePool").input({2, 37, 7, 7}).check_layouts(on_cpu("vector.reduce"), kClose);
  OpCase("GlobalAveragePool")
      .input({2, 37, 7, 7})
      .output_layout(Layout::kRowMajor)
      .check(on_cpu("vector.reduce"), kClose, kLast);
  OpCase("GlobalMaxPool").input({2, 37, 7, 7}).check_layouts(on_cpu("vector.reduce"), kClose);
}

}  // namespace
}  // namespace saccade
