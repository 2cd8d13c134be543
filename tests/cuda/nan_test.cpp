#include "op_case/op_case.hpp"
#include "support/specials.hpp"

// NaN and infinities propagate as in the reference.
namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr Tolerance kNanProducts{.absolute = 3e-2, .relative = 1e-2};

Tensor few_odd(const Shape& shape, std::size_t count, std::uint32_t seed = 5) {
  return with_few_specials(random_elements(DType::kFloat32, shape, -1, 1, seed), count);
}

TEST(CudaNan, PropagatesThroughConvolutionsAndGemms) {
  for (const char* op : {"Relu", "Sigmoid", "Silu", "HardSwish"})
    OpCase("Conv")
        .input(few_odd({1, 16, 9, 9}, 3))
        .constant({24, 16, 3, 3}, -1, 1)
        .constant(with_specials(random_elements(DType::kFloat32, {24}, -1, 1, 3), 5, 1))
        .attribute("pads", Integers{1, 1, 1, 1})
        .post(op)
        .check(on_cuda("tiled.convolution"), kNanProducts, Layout::kChannelsLast);
  OpCase("Conv")
      .input(few_odd({1, 16, 9, 9}, 3))
      .constant({24, 16, 3, 3}, -1, 1)
      .post("Clip", 0, 6)
      .check(on_cuda("tiled.convolution"), kNanProducts, Layout::kChannelsLast);
  OpCase("MatMul")
      .input(few_odd({7, 19}, 2))
      .constant({19, 33}, -1, 1)
      .post("Relu")
      .check(on_cuda("tiled.matmul"), kNanProducts);
}

/// Up to four channels: a row of taps is padded to a multiple of four, over the neighbours of the last one.
TEST(CudaNan, StaysWithinTheKernelsReachWithFewChannels) {
  for (const int width : {1, 3, 5, 7})
    OpCase("Conv")
        .input(few_odd({1, 3, 17, 23}, 3))
        .constant({16, 3, 3, width}, -1, 1)
        .attribute("strides", Integers{1, 2})
        .in(DType::kFloat16)
        .check(on_cuda("tiled.convolution"), kNanProducts, Layout::kChannelsLast);
  OpCase("MatMul")
      .input(few_odd({9, 1}, 2))
      .constant({1, 16}, -1, 1)
      .in(DType::kFloat16)
      .check(on_cuda("tiled.matmul"), kNanProducts);
}

}  // namespace
}  // namespace saccade
