#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kMaxPool{.cpu = "vector.max_pool", .cuda = "pooling"};
constexpr Tactics kPooling{.cpu = "onednn.pooling", .cuda = "pooling"};

using Integers = std::vector<std::int64_t>;

SACCADE_EVERY_BACKEND(Pooling);

TEST_P(Pooling, TakesTheGreatest) {
  OpCase("MaxPool")
      .input({2, 19, 13, 11})
      .attribute("kernel_shape", Integers{3, 2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 0, 1, 1})
      .check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 2})
      .attribute("ceil_mode", std::int64_t{1})
      .check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{5, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .check_layouts(by(kMaxPool));
}

TEST_P(Pooling, TakesTheGreatestOfBytes) {
  OpCase("MaxPool")
      .input(random_integers(DType::kUInt8, {1, 24, 9, 9}, 0, 255, 3))
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 2})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(by(kPooling));
}

TEST_P(Pooling, AveragesWithAndWithoutPadding) {
  for (std::int64_t counted : {0, 1})
    OpCase("AveragePool")
        .input({2, 17, 9, 10})
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("pads", Integers{1, 1, 1, 1})
        .attribute("count_include_pad", counted)
        .check_layouts(by(kPooling));
}

TEST_P(Pooling, TakesTheGreatestOfManyTaps) {
  // More taps than the kernel takes at once, and rows longer than a span.
  OpCase("MaxPool").input({1, 20, 11, 12}).attribute("kernel_shape", Integers{9, 9}).check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({1, 2, 3, 5000})
      .attribute("kernel_shape", Integers{2, 7})
      .attribute("strides", Integers{1, 3})
      .attribute("pads", Integers{0, 2, 0, 4})
      .check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({2, 3, 5, 6, 7})
      .attribute("kernel_shape", Integers{2, 3, 2})
      .attribute("dilations", Integers{2, 1, 3})
      .attribute("pads", Integers{0, 1, 0, 1, 0, 1})
      .check_layouts(by(kMaxPool));
}

TEST_P(Pooling, ReducesWindowsInsideARowTogether) {
  // Windows at the edges, windows inside, and rows in which no window is inside.
  OpCase("MaxPool")
      .input({2, 83, 9, 23})
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("strides", Integers{2, 3})
      .attribute("dilations", Integers{1, 2})
      .attribute("pads", Integers{1, 3, 1, 2})
      .check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({1, 70, 7, 3})
      .attribute("kernel_shape", Integers{3, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .check_layouts(by(kMaxPool));
  OpCase("MaxPool")
      .input({1, 16, 15, 15})
      .attribute("kernel_shape", Integers{8, 8})
      .attribute("pads", Integers{4, 4, 4, 4})
      .check_layouts(by(kMaxPool));
}

TEST_P(Pooling, OneDimension) {
  OpCase("MaxPool").input({2, 5, 20}).attribute("kernel_shape", Integers{4}).check_layouts(by(kMaxPool));
}

TEST_P(Pooling, RunsPostOps) {
  OpCase("MaxPool")
      .input({1, 6, 12, 12})
      .attribute("kernel_shape", Integers{2, 2})
      .post("Relu")
      .check_layouts(by(kMaxPool));
}

TEST_P(Pooling, TakesTheGreatestWithItsPlace) {
  OpCase("MaxPool")
      .input({2, 3, 9, 8})
      .attribute("kernel_shape", Integers{3, 2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 0, 1, 1})
      .outputs(2)
      .check_layouts(by("", "pooling"));
  OpCase("MaxPool")
      .input({1, 2, 5, 6, 4})
      .attribute("kernel_shape", Integers{2, 2, 2})
      .attribute("dilations", Integers{2, 1, 3})
      .attribute("storage_order", std::int64_t{1})
      .outputs(2)
      .check(by("", "pooling"));
  OpCase("MaxPool")
      .input(DType::kUInt8, {1, 2, 7}, 0, 255)
      .attribute("kernel_shape", Integers{3})
      .check(by("", "pooling"));
  OpCase("MaxPool")
      .input(DType::kFloat16, {1, 8, 6, 6})
      .attribute("kernel_shape", Integers{5, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .post("Relu")
      .check(by("", "pooling"), {}, Layout::kChannelsLast);
}

TEST_P(Pooling, TakesTheGreatestAlone) {
  for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64})
    OpCase("MaxPool")
        .input(dtype, {1, 3, 9, 8})
        .attribute("kernel_shape", Integers{3, 2})
        .attribute("strides", Integers{2, 1})
        .attribute("pads", Integers{1, 0, 1, 1})
        .check_layouts(by("", "pooling"));
  // The last windows of dilated taps see nothing but padding.
  OpCase("MaxPool")
      .input({1, 2, 3, 3})
      .attribute("kernel_shape", Integers{2, 2})
      .attribute("dilations", Integers{4, 4})
      .attribute("pads", Integers{3, 3, 3, 3})
      .check(by("", "pooling"));
}

TEST_P(Pooling, Averages) {
  for (std::int64_t count_padding : {0, 1})
    OpCase("AveragePool")
        .input({2, 3, 10, 9})
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("strides", Integers{2, 2})
        .attribute("pads", Integers{1, 0, 1, 1})
        .attribute("ceil_mode", std::int64_t{1})
        .attribute("count_include_pad", count_padding)
        .check_layouts(by("", "pooling"));
}

TEST_P(Pooling, TakesNorms) {
  for (std::int64_t p : {1, 2, 3})
    OpCase("LpPool")
        .input({1, 3, 6, 5})
        .attribute("kernel_shape", Integers{2, 3})
        .attribute("p", p)
        .check(by("", "pooling"));
}

TEST_P(Pooling, ReducesPlanes) {
  OpCase("GlobalAveragePool").input({2, 40, 7, 6}).check_layouts(by("", "lines.reduction"));
  OpCase("GlobalAveragePool")
      .input(DType::kFloat16, {1, 20, 20, 20})
      .check_layouts(by("", "lines.reduction"), {2e-3, 2e-3});
  OpCase("GlobalMaxPool").input({2, 3, 50}).check_layouts(by("", "lines.reduction"));
  OpCase("GlobalLpPool").input({2, 3, 5, 4}).check(by("", "lines.reduction"));
}

}  // namespace
}  // namespace saccade
