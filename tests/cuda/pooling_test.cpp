#include "cuda_case.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

TEST(CudaPooling, TakesTheGreatest) {
  CudaCase("MaxPool")
      .input({2, 3, 9, 8})
      .attribute("kernel_shape", Integers{3, 2})
      .attribute("strides", Integers{2, 1})
      .attribute("pads", Integers{1, 0, 1, 1})
      .outputs(2)
      .check_layouts("pooling");
  CudaCase("MaxPool")
      .input({1, 2, 5, 6, 4})
      .attribute("kernel_shape", Integers{2, 2, 2})
      .attribute("dilations", Integers{2, 1, 3})
      .attribute("storage_order", std::int64_t{1})
      .outputs(2)
      .check("pooling");
  CudaCase("MaxPool").input(DType::kUInt8, {1, 2, 7}, 0, 255).attribute("kernel_shape", Integers{3}).check("pooling");
  CudaCase("MaxPool")
      .input(DType::kFloat16, {1, 8, 6, 6})
      .attribute("kernel_shape", Integers{5, 5})
      .attribute("pads", Integers{2, 2, 2, 2})
      .post("Relu")
      .check("pooling", {}, Layout::kChannelsLast);
}

TEST(CudaPooling, TakesTheGreatestAlone) {
  for (DType dtype : {DType::kFloat16, DType::kFloat32, DType::kFloat64})
    CudaCase("MaxPool")
        .input(dtype, {1, 3, 9, 8})
        .attribute("kernel_shape", Integers{3, 2})
        .attribute("strides", Integers{2, 1})
        .attribute("pads", Integers{1, 0, 1, 1})
        .check_layouts("pooling");
  // The last windows of dilated taps see nothing but padding.
  CudaCase("MaxPool")
      .input({1, 2, 3, 3})
      .attribute("kernel_shape", Integers{2, 2})
      .attribute("dilations", Integers{4, 4})
      .attribute("pads", Integers{3, 3, 3, 3})
      .check("pooling");
}

TEST(CudaPooling, Averages) {
  for (std::int64_t count_padding : {0, 1})
    CudaCase("AveragePool")
        .input({2, 3, 10, 9})
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("strides", Integers{2, 2})
        .attribute("pads", Integers{1, 0, 1, 1})
        .attribute("ceil_mode", std::int64_t{1})
        .attribute("count_include_pad", count_padding)
        .check_layouts("pooling");
}

TEST(CudaPooling, TakesNorms) {
  for (std::int64_t p : {1, 2, 3})
    CudaCase("LpPool").input({1, 3, 6, 5}).attribute("kernel_shape", Integers{2, 3}).attribute("p", p).check("pooling");
}

TEST(CudaPooling, ReducesPlanes) {
  CudaCase("GlobalAveragePool").input({2, 40, 7, 6}).check_layouts("lines.reduction");
  CudaCase("GlobalAveragePool").input(DType::kFloat16, {1, 20, 20, 20}).check_layouts("lines.reduction", {2e-3, 2e-3});
  CudaCase("GlobalMaxPool").input({2, 3, 50}).check_layouts("lines.reduction");
  CudaCase("GlobalLpPool").input({2, 3, 5, 4}).check("lines.reduction");
}

}  // namespace
}  // namespace saccade
