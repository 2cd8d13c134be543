#include "op_case/op_case.hpp"
#include "support/specials.hpp"

// NaN and infinities propagate as in the reference.
namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr Tolerance kNanNear{.absolute = 1e-3, .relative = 1e-3};
constexpr Tolerance kNanProducts{.absolute = 3e-2, .relative = 1e-2};

Tensor odd_elements(const Shape& shape, std::size_t step = 2, std::size_t first = 0) {
  return with_specials(random_elements(DType::kFloat32, shape, -3, 3, 7), step, first);
}

Tensor few_odd(const Shape& shape, std::size_t count, std::uint32_t seed = 5) {
  return with_few_specials(random_elements(DType::kFloat32, shape, -1, 1, seed), count);
}

TEST(CudaNan, StaysInFunctions) {
  for (const char* op : {"Relu",   "LeakyRelu", "Elu",         "Sigmoid",   "Tanh",
                         "Erf",    "Gelu",      "HardSigmoid", "HardSwish", "Exp",
                         "Log",    "Sqrt",      "Abs",         "Neg",       "Floor",
                         "Ceil",   "Round",     "Softsign",    "Softplus",  "Mish",
                         "Celu",   "Selu",      "Sign",        "Swish",     "ThresholdedRelu",
                         "Shrink", "Reciprocal"})
    OpCase(op).input(odd_elements({67})).check(on_cuda("elements"), kNanNear);
  OpCase("Silu", "saccade").input(odd_elements({67})).check(on_cuda("elements"), kNanNear);
}

TEST(CudaNan, StaysOnEitherSideOfTwo) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"})
    OpCase(op).input(odd_elements({67})).input(odd_elements({67}, 3, 1)).check(on_cuda("elements"));
}

TEST(CudaNan, IsTheGreatestOfAPool) {
  OpCase("MaxPool")
      .input(few_odd({1, 5, 9, 8}, 20))
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .outputs(2)
      .check_layouts(on_cuda("pooling"));
  OpCase("MaxPool")
      .input(few_odd({1, 5, 9, 8}, 20))
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(on_cuda("pooling"));
  OpCase("GlobalMaxPool").input(few_odd({1, 7, 9, 8}, 5)).check_layouts(on_cuda("lines.reduction"));
}

TEST(CudaNan, StaysInRows) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    OpCase(op).input(few_odd({12, 67}, 6)).attribute("axis", std::int64_t{1}).check(on_cuda("lines.softmax"), kNanNear);
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"})
    OpCase(op)
        .input(few_odd({12, 67}, 6))
        .constant(Tensor::of<std::int64_t>({1}, {1}))
        .check(on_cuda("lines.reduction"), kNanNear);
  for (const char* op : {"ArgMax", "ArgMin"})
    OpCase(op)
        .input(few_odd({12, 67}, 6))
        .attribute("axis", std::int64_t{1})
        .check(on_cuda("lines.reduction"), kNanNear);
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

}  // namespace
}  // namespace saccade
