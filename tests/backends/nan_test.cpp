#include <limits>

#include "op_case/op_case.hpp"
#include "support/specials.hpp"

// NaN and infinities stay where the reference has them behind oneDNN's products and their post-ops.
namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

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

/// A bias that is a number, NaN, infinity and -infinity in turn.
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

/// Whichever thread computes the pixel.
TEST(Nan, IsSeenOnEveryThread) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{1500}, std::size_t{64 * 64 - 1}}) {
    Tensor input = random_tensor({1, 32, 64, 64}, -1, 1, 5);
    input.data<float>()[at] = std::numeric_limits<float>::quiet_NaN();
    OpCase("Conv")
        .input(std::move(input))
        .constant({32, 32, 1, 1}, -1, 1)
        .post("Relu")
        .check_layouts(on_cpu("onednn.convolution"), {.absolute = 1e-3, .relative = 1e-3});
  }
}

TEST(Nan, IsNotSeenInNumbers) {
  cpu_backend().met_nan();
  // What other work noted on the calling thread is none of a launch's.
  volatile float zero = 0;
  volatile float none = zero / zero;
  static_cast<void>(none);
  EXPECT_FALSE(cpu_backend().met_nan());
}

}  // namespace
}  // namespace saccade
