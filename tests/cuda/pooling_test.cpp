#include "op_case/op_case.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

TEST(CudaPooling, TakesTheGreatest) {
  OpCase("MaxPool")
      .input({2, 3, 9, 8})
      .attribute("kernel_shape", Integers{3, 2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 0, 1, 1})
      .outputs(2)
      .check_layouts(on_cuda("pooling"));
  OpCase("MaxPool")
      .input({1, 2, 5, 6, 4})
      .attribute("kernel_shape", Integers{2, 2, 2})
      .attribute("dilations", Integers{2, 1, 3})
      .attribute("storage_order", std::int64_t{1})
      .outputs(2)
      .check(on_cuda("pooling"));
  OpCase("MaxPool")
      .input(DType::kUInt8, {1, 2, 7}, 0, 255)
      .attribute("kernel_shape", Integers{3})
      .check(on_cuda("pooling"));
  OpCase("MaxPool")
      .input(DType::kFloat16, {1, 8, 6, 6})
      .attribute("kernel_shape", Integers{5, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .post("Relu")
      .check(on_cuda("pooling"), {}, Layout::kChannelsLast);
}

TEST(CudaPooling, TakesTheGreatestAlone) {
  for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64})
    OpCase("MaxPool")
        .input(dtype, {1, 3, 9, 8})
        .attribute("kernel_shape", Integers{3, 2})
        .attribute("strides", Integers{2, 1})
        .attribute("pads", Integers{1, 0, 1, 1})
        .check_layouts(on_cuda("pooling"));
  // The last windows of dilated taps see nothing but padding.
  OpCase("MaxPool")
      .input({1, 2, 3, 3})
      .attribute("kernel_shape", Integers{2, 2})
      .attribute("dilations", Integers{4, 4})
      .attribute("pads", Integers{3, 3, 3, 3})
      .check(on_cuda("pooling"));
}

TEST(CudaPooling, Averages) {
  for (std::int64_t count_padding : {0, 1})
    OpCase("AveragePool")
        .input({2, 3, 10, 9})
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("strides", Integers{2, 2})
        .attribute("pads", Integers{1, 0, 1, 1})
        .attribute("ceil_mode", std::int64_t{1})
        .attribute("count_include_pad", count_padding)
        .check_layouts(on_cuda("pooling"));
}

TEST(CudaPooling, TakesNorms) {
  for (std::int64_t p : {1, 2, 3})
    OpCase("LpPool")
        .input({1, 3, 6, 5})
        .attribute("kernel_shape", Integers{2, 3})
        .attribute("p", p)
        .check(on_cuda("pooling"));
}

TEST(CudaPooling, ReducesPlanes) {
  OpCase("GlobalAveragePool").input({2, 40, 7, 6}).check_layouts(on_cuda("lines.reduction"));
  OpCase("GlobalAveragePool")
      .input(DType::kFloat16, {1, 20, 20, 20})
      .check_layouts(on_cuda("lines.reduction"), {2e-3, 2e-3});
  OpCase("GlobalMaxPool").input({2, 3, 50}).check_layouts(on_cuda("lines.reduction"));
  OpCase("GlobalLpPool").input({2, 3, 5, 4}).check(on_cuda("lines.reduction"));
}

}  // namespace
}  // namespace saccade
