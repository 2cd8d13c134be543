#include "op_case/op_case.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

// A quotient halfway between two integers may round to either.
constexpr Tolerance kStep{.absolute = 1, .relative = 0};

TEST(CudaIntegerGemm, StayIntegers) {
  OpCase("ConvInteger")
      .input(DType::kUInt8, {2, 4, 6, 5}, 0, 255)
      .input(DType::kInt8, {6, 2, 3, 3}, -128, 127)
      .constant(Tensor::scalar<std::uint8_t>(7))
      .attribute("group", std::int64_t{2})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(on_cuda("direct.integers"), kExact);
  OpCase("MatMulInteger")
      .input(DType::kInt8, {2, 3, 9}, -128, 127)
      .input(DType::kUInt8, {9, 4}, 0, 255)
      .absent()
      .input(DType::kUInt8, {4}, 0, 9)
      .check(on_cuda("direct.integers"), kExact);
}

TEST(CudaIntegerGemm, AreBroughtBackToBytes) {
  OpCase("QLinearConv")
      .input(DType::kUInt8, {1, 3, 6, 5}, 0, 255)
      .constant({}, 0.02F, 0.03F)
      .constant(Tensor::scalar<std::uint8_t>(100))
      .constant(random_elements(DType::kInt8, {4, 3, 3, 3}, -128, 127, 2))
      .constant({4}, 0.01F, 0.02F)
      .constant(Tensor::of<std::int8_t>({4}, {0, 1, -2, 3}))
      .constant({}, 0.2F, 0.3F)
      .constant(Tensor::scalar<std::uint8_t>(120))
      .constant(Tensor::of<std::int32_t>({4}, {100, -100, 0, 50}))
      .attribute("strides", Integers{2, 1})
      .check_layouts(on_cuda("direct.integers"), kStep);
  OpCase("QLinearMatMul")
      .input(DType::kInt8, {2, 5, 9}, -128, 127)
      .constant({}, 0.02F, 0.03F)
      .constant(Tensor::scalar<std::int8_t>(3))
      .input(DType::kInt8, {2, 9, 4}, -128, 127)
      .constant({}, 0.01F, 0.02F)
      .constant(Tensor::scalar<std::int8_t>(0))
      .constant({}, 0.2F, 0.3F)
      .constant(Tensor::scalar<std::int8_t>(-5))
      .check(on_cuda("direct.integers"), kStep);
}

/// A QLinearConv of int8 or uint8 over their full range, with FILTERS of type WEIGHTS and zero point ZERO.
OpCase quantized_convolution(DType dtype, const Shape& shape, const Shape& filters, DType weights = DType::kInt8,
                             int zero = 0) {
  const bool is_signed = dtype == DType::kInt8;
  const bool centered = weights == DType::kInt8;
  const auto scalar = [](DType type, int value) {
    return random_elements(type, {}, static_cast<float>(value), static_cast<float>(value), 1);
  };
  OpCase made("QLinearConv");
  made.input(dtype, shape, is_signed ? -128 : 0, is_signed ? 127 : 255)
      .constant({}, 0.02F, 0.03F)
      .constant(scalar(dtype, is_signed ? -7 : 130))
      .constant(random_elements(weights, filters, centered ? -127 : 3, centered ? 127 : 250, 2))
      .constant({filters[0]}, 0.01F, 0.02F)
      .constant(scalar(weights, zero))
      .constant({}, 1, 2)
      .constant(scalar(DType::kUInt8, 120))
      .constant(random_elements(DType::kInt32, {filters[0]}, -9999, 9999, 4));
  return made;
}

TEST(CudaQuantizedConvolution, SumsBytesExactly) {
  const auto check = [](const OpCase& made) {
    made.check(on_cuda("tiled.quantized_convolution"), kExact, Layout::kChannelsLast);
  };
  for (DType dtype : {DType::kUInt8, DType::kInt8}) {
    check(quantized_convolution(dtype, {1, 32, 5, 7}, {40, 32, 1, 1}));
    check(quantized_convolution(dtype, {2, 24, 9, 6}, {9, 24, 3, 3})
              .attribute("strides", Integers{2, 1})
              .attribute("pads", Integers{1, 1, 1, 1}));
    check(quantized_convolution(dtype, {1, 58, 6, 5}, {58, 58, 1, 1}));
    check(quantized_convolution(dtype, {1, 12, 7, 7}, {8, 6, 3, 3})
              .attribute("group", std::int64_t{2})
              .attribute("dilations", Integers{2, 2})
              .attribute("pads", Integers{2, 2, 2, 2}));
    check(quantized_convolution(dtype, {1, 1024, 3, 3}, {24, 1024, 1, 1}));
  }
  check(quantized_convolution(DType::kUInt8, {1, 16, 6, 6}, {16, 16, 3, 3}, DType::kUInt8, 124)
            .attribute("pads", Integers{1, 0, 0, 1}));
}

}  // namespace
}  // namespace saccade
