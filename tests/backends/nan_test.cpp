#include "op_case/op_case.hpp"
#include "support/specials.hpp"

// NaN and infinities stay where the reference has them, in whole vectors and in their tails, whatever kernel runs.
namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr Tolerance kNear{.absolute = 1e-5, .relative = 1e-4};
constexpr std::array<std::int64_t, 9> kSizes = {1, 2, 7, 15, 16, 17, 33, 67, 131};

Tensor specials(const Shape& shape, std::size_t step = 2, std::size_t first = 0) {
  return with_specials(random_tensor(shape, -3, 3, 7), step, first);
}

TEST(Nan, StaysInFunctions) {
  for (const char* op : {"Relu",       "LeakyRelu", "Elu",         "Sigmoid",   "Tanh",
                         "Erf",        "Gelu",      "HardSigmoid", "HardSwish", "Exp",
                         "Log",        "Sqrt",      "Abs",         "Neg",       "Floor",
                         "Ceil",       "Round",     "Softsign",    "Softplus",  "Mish",
                         "Celu",       "Selu",      "Sign",        "Swish",     "ThresholdedRelu",
                         "Reciprocal", "Sin",       "Cos"})
    for (const std::int64_t size : kSizes)
      OpCase(op).input(specials({size})).check(on_cpu("vector.elementwise"), kNear);
  OpCase("Silu", "saccade").input(specials({67})).check(on_cpu("vector.elementwise"), kNear);
  OpCase("Gelu").input(specials({67})).attribute("approximate", "tanh").check(on_cpu("vector.elementwise"), kNear);
  for (const float exponent : {2.0F, 0.5F, -1.0F, 3.0F, 1.5F, -0.5F})
    OpCase("Pow")
        .input(specials({67}))
        .constant(Tensor::scalar(exponent))
        .check(on_cpu("vector.elementwise"), {.absolute = 1e-5, .relative = 1e-3});
}

TEST(Nan, StaysInClip) {
  for (const float low : {0.0F, -kInfinity, kNan})
    for (const float high : {6.0F, kInfinity, kNan})
      OpCase("Clip")
          .input(specials({67}))
          .constant(Tensor::scalar(low))
          .constant(Tensor::scalar(high))
          .check(on_cpu("vector.elementwise"));
}

TEST(Nan, StaysOnEitherSideOfTwo) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"}) {
    for (const std::int64_t size : kSizes)
      OpCase(op).input(specials({size}, 2)).input(specials({size}, 3, 1)).check(on_cpu("vector.elementwise"));
    for (const float single : {kNan, kInfinity, -kInfinity, 1.0F}) {
      OpCase(op).input(specials({67})).input(Tensor::of<float>({1}, {single})).check(on_cpu("vector.elementwise"));
      if (std::string_view(op) != "PRelu")
        OpCase(op).input(Tensor::of<float>({1}, {single})).input(specials({67})).check(on_cpu("vector.elementwise"));
    }
  }
}

TEST(Nan, IsTheGreatestOfAPool) {
  for (const std::int64_t channels : kSizes) {
    OpCase("MaxPool")
        .input(with_few_specials(random_tensor({2, channels, 9, 8}, -3, 3, 5), 20))
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("strides", Integers{2, 1})
        .attribute("pads", Integers{1, 1, 1, 1})
        .check_layouts(on_cpu("vector.max_pool"));
    OpCase("GlobalMaxPool")
        .input(with_few_specials(random_tensor({2, channels, 9, 8}, -3, 3, 5), 5))
        .check_layouts(on_cpu("vector.reduce"));
  }
}

TEST(Nan, PoolsOfNothingButMinusInfinityAreThat) {
  Tensor lowest(DType::kFloat32, {1, 19, 5, 5});
  for (float& value : lowest.data<float>()) value = -kInfinity;
  OpCase("MaxPool")
      .input(lowest)
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(on_cpu("vector.max_pool"));
}

TEST(Nan, StaysInAverages) {
  for (const std::int64_t channels : {3, 16, 19})
    OpCase("AveragePool")
        .input(with_few_specials(random_tensor({1, channels, 9, 8}, -3, 3, 5), 9))
        .attribute("kernel_shape", Integers{2, 3})
        .check_layouts(on_cpu("onednn.pooling"), kNear);
}

/// Rows of COUNT elements: plain ones, and ones with each of the specials at the front, at the back and alone.
Tensor rows_with_specials(std::int64_t count) {
  Tensor rows = random_tensor({14, count}, -3, 3, 11);
  const auto at = [&](std::int64_t row, std::int64_t i) -> float& {
    return rows.data<float>()[static_cast<std::size_t>(row * count + i)];
  };
  std::int64_t row = 1;
  for (const float special : {kNan, kInfinity, -kInfinity}) {
    at(row++, 0) = special;
    at(row++, count - 1) = special;
    for (std::int64_t i = 0; i < count; ++i) at(row, i) = special;
    at(row + 1, count / 2) = special;
    at(row + 1, count / 3) = kNan;
    row += 2;
  }
  return rows;
}

Tensor turned(const Tensor& rows) {
  const std::int64_t height = rows.shape()[0];
  const std::int64_t width = rows.shape()[1];
  Tensor columns(DType::kFloat32, {width, height});
  for (std::int64_t i = 0; i < height * width; ++i)
    columns.data<float>()[static_cast<std::size_t>(i % width * height + i / width)] =
        rows.data<float>()[static_cast<std::size_t>(i)];
  return columns;
}

TEST(Nan, StaysInRowsAndColumns) {
  for (const std::int64_t count : kSizes) {
    const Tensor rows = rows_with_specials(count);
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      OpCase(op).input(rows).attribute("axis", std::int64_t{1}).check(on_cpu("vector.softmax"), kNear);
      OpCase(op).input(turned(rows)).attribute("axis", std::int64_t{0}).check(on_cpu("vector.softmax"), kNear);
    }
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2"}) {
      OpCase(op).input(rows).constant(Tensor::of<std::int64_t>({1}, {1})).check(on_cpu("vector.reduce"), kNear);
      OpCase(op).input(turned(rows)).constant(Tensor::of<std::int64_t>({1}, {0})).check(on_cpu("vector.reduce"), kNear);
    }
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const std::int64_t last : {0, 1})
        OpCase(op)
            .input(rows)
            .attribute("axis", std::int64_t{1})
            .attribute("select_last_index", last)
            .check(on_cpu("vector.arg_max"));
    OpCase("LayerNormalization")
        .input(rows)
        .constant({count}, -1, 1)
        .constant({count}, -1, 1)
        .check(on_cpu("vector.layer_norm"), {.absolute = 1e-3, .relative = 1e-3});
  }
}

struct Activation {
  const char* op;
  float alpha = 0;
  float beta = 0;
};

constexpr Activation kActivations[] = {{"Relu"},    {"Clip", 0, 6}, {"LeakyRelu", 0.1F},
                                       {"Sigmoid"}, {"Silu"},       {"Tanh"},
                                       {"Gelu"},    {"HardSwish"},  {"Exp"},
                                       {"Elu", 1},  {"Mish"},       {"HardSigmoid", 0.2F, 0.5F},
                                       {"Abs"},     {"Sqrt"}};

/// A bias that is a number, NaN, infinity and -infinity by turns.
Tensor odd_bias(std::int64_t count) { return with_specials(random_tensor({count}, -1, 1, 3), 4, 1); }

TEST(Nan, StaysBehindConvolutions) {
  struct Shapes {
    Shape input;
    Shape weights;
    std::int64_t groups = 1;
  };
  const Shapes shapes[] = {{{1, 16, 9, 9}, {32, 16, 3, 3}},  {{1, 19, 9, 9}, {21, 19, 3, 3}},
                           {{2, 16, 9, 9}, {35, 16, 1, 1}},  {{1, 24, 9, 9}, {24, 1, 3, 3}, 24},
                           {{1, 3, 12, 12}, {24, 3, 3, 3}},  {{1, 8, 64, 64}, {16, 8, 3, 3}},
                           {{1, 24, 9, 9}, {24, 6, 3, 3}, 4}};
  for (const Activation& activation : kActivations)
    for (const Shapes& shape : shapes)
      OpCase("Conv")
          .input(with_few_specials(random_tensor(shape.input, -1, 1, 5), 3))
          .constant(shape.weights, -1, 1)
          .constant(odd_bias(shape.weights[0]))
          .attribute("group", shape.groups)
          .attribute("pads", Integers{1, 1, 1, 1})
          .post(activation.op, activation.alpha, activation.beta)
          .check_layouts(on_cpu("onednn.convolution"), {.absolute = 1e-3, .relative = 1e-3});
}

TEST(Nan, StaysBehindAConvolutionsSum) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast})
    OpCase("Conv")
        .input(with_few_specials(random_tensor({1, 16, 9, 9}, -1, 1, 5), 3))
        .constant({32, 16, 3, 3}, -1, 1)
        .constant({32}, -1, 1)
        .post_with_operand("Add")
        .post("Relu")
        .check(on_cpu("onednn.convolution"), {.absolute = 1e-3, .relative = 1e-3}, layout);
}

TEST(Nan, StaysBehindProducts) {
  for (const Activation& activation : kActivations) {
    OpCase("Gemm")
        .input(with_few_specials(random_tensor({7, 19}, -1, 1, 5), 2))
        .constant({19, 33}, -1, 1)
        .constant(odd_bias(33))
        .post(activation.op, activation.alpha, activation.beta)
        .check(on_cpu("onednn.matmul"), {.absolute = 1e-3, .relative = 1e-3});
    OpCase("MatMul")
        .input(with_few_specials(random_tensor({2, 7, 19}, -1, 1, 5), 2))
        .input(with_few_specials(random_tensor({2, 19, 21}, -1, 1, 6), 3))
        .post(activation.op, activation.alpha, activation.beta)
        .check(on_cpu("onednn.matmul"), {.absolute = 1e-3, .relative = 1e-3});
  }
}

TEST(Nan, StaysBehindDeconvolutions) {
  for (const Activation& activation : kActivations)
    OpCase("ConvTranspose")
        .input(with_few_specials(random_tensor({1, 16, 5, 6}, -1, 1, 5), 3))
        .constant({16, 8, 2, 2}, -1, 1)
        .constant(odd_bias(8))
        .attribute("strides", Integers{2, 2})
        .post(activation.op, activation.alpha, activation.beta)
        .check_layouts(on_cpu("onednn.deconvolution"), {.absolute = 1e-3, .relative = 1e-3});
}

TEST(Nan, StaysBehindNormalisations) {
  OpCase("InstanceNormalization")
      .input(random_tensor({2, 7, 5, 6}, -3, 3, 5))
      .constant(Tensor::of<float>({7}, {1, kInfinity, -kInfinity, kNan, 1, 1, 1}))
      .constant(Tensor::of<float>({7}, {1, 1, kInfinity, 1, kNan, -kInfinity, 1}))
      .check_layouts(on_cpu("vector.group_norm"), kNear);
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast})
    OpCase("InstanceNormalization")
        .input(with_few_specials(random_tensor({2, 7, 5, 6}, -3, 3, 5), 3))
        .constant({7}, -1, 1)
        .constant({7}, -1, 1)
        .check(on_cpu("vector.group_norm"), kNear, layout);
}

TEST(Nan, IsNotSeenInNumbers) {
  cpu_backend().met_nan();
  // What other work noted on the calling thread is none of a launch's.
  volatile float zero = 0;
  volatile float none = zero / zero;
  static_cast<void>(none);
  EXPECT_FALSE(cpu_backend().met_nan());
}

TEST(Nan, OfOneChannelStaysOutOfTheOthersInAResize) {
  OpCase("Resize")
      .input(with_few_specials(random_tensor({1, 5, 7, 7}, -1, 1, 5), 3))
      .absent()
      .constant(Tensor::of<float>({4}, {1, 1, 2, 2}))
      .attribute("mode", "cubic")
      .check_layouts(on_cpu("vector.resize"), kNear);
}

}  // namespace
}  // namespace saccade
