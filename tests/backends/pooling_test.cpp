#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.pooling");
constexpr On kGreatest = on_cpu("vector.max_pool");
using Integers = std::vector<std::int64_t>;

TEST(Pooling, TakesTheGreatest) {
  OpCase("MaxPool")
      .input({2, 19, 13, 11})
      .attribute("kernel_shape", Integers{3, 2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 0, 1, 1})
      .check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 2})
      .attribute("ceil_mode", std::int64_t{1})
      .check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{5, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .check_layouts(kGreatest);
}

TEST(Pooling, TakesTheGreatestOfBytes) {
  OpCase("MaxPool")
      .input(random_integers(DType::kUInt8, {1, 24, 9, 9}, 0, 255, 3))
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 2})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(kTactic);
}

TEST(Pooling, AveragesWithAndWithoutPadding) {
  for (std::int64_t counted : {0, 1})
    OpCase("AveragePool")
        .input({2, 17, 9, 10})
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("pads", Integers{1, 1, 1, 1})
        .attribute("count_include_pad", counted)
        .check_layouts(kTactic);
}

TEST(Pooling, TakesTheGreatestOfManyTaps) {
  // More taps than the kernel takes at once, and rows longer than a span.
  OpCase("MaxPool").input({1, 20, 11, 12}).attribute("kernel_shape", Integers{9, 9}).check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({1, 2, 3, 5000})
      .attribute("kernel_shape", Integers{2, 7})
      .attribute("strides", Integers{1, 3})
      .attribute("pads", Integers{0, 2, 0, 4})
      .check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({2, 3, 5, 6, 7})
      .attribute("kernel_shape", Integers{2, 3, 2})
      .attribute("dilations", Integers{2, 1, 3})
      .attribute("pads", Integers{0, 1, 0, 1, 0, 1})
      .check_layouts(kGreatest);
}

TEST(Pooling, ReducesWindowsInsideARowTogether) {
  // Windows at the edges, windows inside, and rows in which no window is inside.
  OpCase("MaxPool")
      .input({2, 83, 9, 23})
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 3})
      .attribute("dilations", Integers{1, 2})
      .attribute("pads", Integers{1, 3, 1, 2})
      .check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({1, 70, 7, 3})
      .attribute("kernel_shape", Integers{3, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .check_layouts(kGreatest);
  OpCase("MaxPool")
      .input({1, 16, 15, 15})
      .attribute("kernel_shape", Integers{8, 8})
      .attribute("pads", Integers{4, 4, 4, 4})
      .check_layouts(kGreatest);
}

TEST(Pooling, LeavesFloatsToTheKernelThatKeepsNan) {
  EXPECT_FALSE(OpCase("MaxPool").input({1, 5, 9, 9}).attribute("kernel_shape", Integers{2, 2}).supports(kTactic));
}

TEST(Pooling, OneDimension) {
  OpCase("MaxPool").input({2, 5, 20}).attribute("kernel_shape", Integers{4}).check_layouts(kGreatest);
}

TEST(Pooling, RunsPostOps) {
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{2, 2})
      .post("Relu")
      .check_layouts(kGreatest);
}

TEST(Pooling, RefusesIndices) {
  EXPECT_FALSE(
      OpCase("MaxPool").input({1, 5, 9, 9}).attribute("kernel_shape", Integers{2, 2}).outputs(2).supports(kGreatest));
}

}  // namespace
}  // namespace saccade
