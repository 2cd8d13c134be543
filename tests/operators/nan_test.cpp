#include "op_case/every_backend.hpp"
#include "support/specials.hpp"

// NaN and infinities are where the reference has them, in whole vectors and in their tails, whatever kernel runs.
namespace saccade {
namespace {

constexpr Tactics kElements{.cpu = "vector.elementwise", .cuda = "elements"};
constexpr Tactics kMaxPool{.cpu = "vector.max_pool", .cuda = "pooling"};
constexpr Tactics kSoftmax{.cpu = "vector.softmax", .cuda = "lines.softmax"};
constexpr Tactics kReduce{.cpu = "vector.reduce", .cuda = "lines.reduction"};

using Integers = std::vector<std::int64_t>;
constexpr Tolerances kNear{.cpu = {.absolute = 1e-5, .relative = 1e-4}, .cuda = {.absolute = 1e-3, .relative = 1e-3}};

Tensor specials(const Shape& shape, std::size_t step = 2, std::size_t first = 0) {
  return with_specials(random_tensor(shape, -3, 3, 7), step, first);
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

Tensor few_odd(const Shape& shape, std::size_t count, std::uint32_t seed = 5) {
  return with_few_specials(random_tensor(shape, -1, 1, seed), count);
}

SACCADE_EVERY_BACKEND(Nan);

/// Whole vectors of the CPU, and their tails; a size is a kernel of its own on CUDA.
std::vector<std::int64_t> sizes(TestedBackend backend) {
  if (backend == TestedBackend::kCuda) return {1, 67};
  return {1, 2, 7, 15, 16, 17, 33, 67, 131};
}

TEST_P(Nan, StaysInFunctions) {
  for (const char* op : {"Relu",       "LeakyRelu", "Elu",         "Sigmoid",   "Tanh",
                         "Erf",        "Gelu",      "HardSigmoid", "HardSwish", "Exp",
                         "Log",        "Sqrt",      "Abs",         "Neg",       "Floor",
                         "Ceil",       "Round",     "Softsign",    "Softplus",  "Mish",
                         "Celu",       "Selu",      "Sign",        "Swish",     "ThresholdedRelu",
                         "Reciprocal", "Sin",       "Cos"})
    for (const std::int64_t size : sizes(GetParam()))
      OpCase(op).input(specials({size})).check(by(kElements), within(kNear));
  OpCase("Shrink").input(specials({67})).check(by("", "elements"), within(kNear));
  OpCase("Silu", "saccade").input(specials({67})).check(by(kElements), within(kNear));
  OpCase("Gelu").input(specials({67})).attribute("approximate", "tanh").check(by(kElements), within(kNear));
  for (const float exponent : {2.0F, 0.5F, -1.0F, 3.0F, 1.5F, -0.5F})
    OpCase("Pow")
        .input(specials({67}))
        .constant(Tensor::scalar(exponent))
        .check(by(kElements), {.absolute = 1e-5, .relative = 1e-3});
}

TEST_P(Nan, StaysInClip) {
  for (const float low : {0.0F, -kInfinity, kNan})
    for (const float high : {6.0F, kInfinity, kNan})
      OpCase("Clip")
          .input(specials({67}))
          .constant(Tensor::scalar(low))
          .constant(Tensor::scalar(high))
          .check(by(kElements));
}

TEST_P(Nan, StaysOnEitherSideOfTwo) {
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"}) {
    for (const std::int64_t size : sizes(GetParam()))
      OpCase(op).input(specials({size}, 2)).input(specials({size}, 3, 1)).check(by(kElements));
    for (const float single : {kNan, kInfinity, -kInfinity, 1.0F}) {
      OpCase(op).input(specials({67})).input(Tensor::of<float>({1}, {single})).check(by(kElements));
      if (std::string_view(op) != "PRelu")
        OpCase(op).input(Tensor::of<float>({1}, {single})).input(specials({67})).check(by(kElements));
    }
  }
}

TEST_P(Nan, IsTheGreatestOfAPool) {
  for (const std::int64_t channels : sizes(GetParam())) {
    OpCase("MaxPool")
        .input(with_few_specials(random_tensor({2, channels, 9, 8}, -3, 3, 5), 20))
        .attribute("kernel_shape", Integers{3, 3})
        .attribute("strides", Integers{2, 1})
        .attribute("pads", Integers{1, 1, 1, 1})
        .check_layouts(by(kMaxPool));
    OpCase("GlobalMaxPool")
        .input(with_few_specials(random_tensor({2, channels, 9, 8}, -3, 3, 5), 5))
        .check_layouts(by(kReduce));
  }
}

TEST_P(Nan, PoolsOfNothingButMinusInfinityAreThat) {
  Tensor lowest(DType::kFloat32, {1, 19, 5, 5});
  for (float& value : lowest.data<float>()) value = -kInfinity;
  OpCase("MaxPool")
      .input(lowest)
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .check_layouts(by(kMaxPool));
}

TEST_P(Nan, StaysInAverages) {
  for (const std::int64_t channels : {3, 16, 19})
    OpCase("AveragePool")
        .input(with_few_specials(random_tensor({1, channels, 9, 8}, -3, 3, 5), 9))
        .attribute("kernel_shape", Integers{2, 3})
        .check_layouts(by("onednn.pooling", "pooling"), within(kNear));
}

TEST_P(Nan, StaysInRowsAndColumns) {
  for (const std::int64_t count : sizes(GetParam())) {
    const Tensor rows = rows_with_specials(count);
    for (const char* op : {"Softmax", "LogSoftmax"}) {
      OpCase(op).input(rows).attribute("axis", std::int64_t{1}).check(by(kSoftmax), within(kNear));
      OpCase(op).input(turned(rows)).attribute("axis", std::int64_t{0}).check(by(kSoftmax), within(kNear));
    }
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2"}) {
      OpCase(op).input(rows).constant(Tensor::of<std::int64_t>({1}, {1})).check(by(kReduce), within(kNear));
      OpCase(op).input(turned(rows)).constant(Tensor::of<std::int64_t>({1}, {0})).check(by(kReduce), within(kNear));
    }
    for (const char* op : {"ArgMax", "ArgMin"})
      for (const std::int64_t last : {0, 1})
        OpCase(op)
            .input(rows)
            .attribute("axis", std::int64_t{1})
            .attribute("select_last_index", last)
            .check(by("vector.arg_max", "lines.reduction"));
    OpCase("LayerNormalization")
        .input(rows)
        .constant({count}, -1, 1)
        .constant({count}, -1, 1)
        .check(by("vector.layer_norm", "lines.layer_normalization"), {.absolute = 1e-3, .relative = 1e-3});
  }
}

TEST_P(Nan, StaysBehindNormalisations) {
  OpCase("InstanceNormalization")
      .input(random_tensor({2, 7, 5, 6}, -3, 3, 5))
      .constant(Tensor::of<float>({7}, {1, kInfinity, -kInfinity, kNan, 1, 1, 1}))
      .constant(Tensor::of<float>({7}, {1, 1, kInfinity, 1, kNan, -kInfinity, 1}))
      .check_layouts(by("vector.group_norm", "lines.group_normalization"), within(kNear));
  for (const Layout layout : {Layout::kRowMajor, Layout::kChannelsLast})
    OpCase("InstanceNormalization")
        .input(with_few_specials(random_tensor({2, 7, 5, 6}, -3, 3, 5), 3))
        .constant({7}, -1, 1)
        .constant({7}, -1, 1)
        .check(by("vector.group_norm", "lines.group_normalization"), within(kNear), layout);
}

TEST_P(Nan, OfOneChannelStaysOutOfTheOthersInAResize) {
  OpCase("Resize")
      .input(with_few_specials(random_tensor({1, 5, 7, 7}, -1, 1, 5), 3))
      .absent()
      .constant(Tensor::of<float>({4}, {1, 1, 2, 2}))
      .attribute("mode", "cubic")
      .check_layouts(by("vector.resize", "resize"), within(kNear));
}

TEST_P(Nan, HasItsPlaceInAPool) {
  OpCase("MaxPool")
      .input(few_odd({1, 5, 9, 8}, 20))
      .attribute("kernel_shape", Integers{3, 3})
      .attribute("pads", Integers{1, 1, 1, 1})
      .outputs(2)
      .check_layouts(by("", "pooling"));
}

TEST_P(Nan, StaysInRows) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    OpCase(op)
        .input(few_odd({12, 67}, 6))
        .attribute("axis", std::int64_t{1})
        .check(by("", "lines.softmax"), within(kNear));
  for (const char* op : {"ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"})
    OpCase(op)
        .input(few_odd({12, 67}, 6))
        .constant(Tensor::of<std::int64_t>({1}, {1}))
        .check(by("", "lines.reduction"), within(kNear));
  for (const char* op : {"ArgMax", "ArgMin"})
    OpCase(op)
        .input(few_odd({12, 67}, 6))
        .attribute("axis", std::int64_t{1})
        .check(by("", "lines.reduction"), within(kNear));
}

}  // namespace
}  // namespace saccade
