#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.convolution");
constexpr Tolerance kClose{.absolute = 1e-4, .relative = 1e-4};
using Integers = std::vector<std::int64_t>;

void check(const OpCase& convolution) { convolution.check(kTactic, kClose, Layout::kChannelsLast); }

TEST(DirectConvolution, OfAnyRank) {
  check(OpCase("Conv")
            .input({2, 9, 31})
            .constant({20, 9, 5}, -1, 1)
            .constant({20}, -1, 1)
            .attribute("pads", Integers{2, 2}));
  check(OpCase("Conv")
            .input({1, 5, 6, 7, 8})
            .constant({17, 5, 3, 2, 3}, -1, 1)
            .attribute("pads", Integers{1, 0, 1, 1, 1, 0})
            .attribute("strides", Integers{2, 1, 1}));
}

TEST(DirectConvolution, OfRandomSizes) {
  RandomSizes any(9);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t groups = round % 5 == 4 ? any(2, 3) : 1;
    const std::int64_t kernel = any(1, 5);
    const std::int64_t in = any(1, 40);
    const std::int64_t out = any(8, 50);
    OpCase convolution("Conv");
    convolution.input({any(1, 2), groups * in, any(9, 30), any(9, 30)})
        .constant({groups * out, in, kernel, any(1, 3)}, -1, 1)
        .constant({groups * out}, -1, 1)
        .attribute("group", groups)
        .attribute("strides", Integers{any(1, 3), any(1, 2)})
        .attribute("dilations", Integers{1, any(1, 2)})
        .attribute("pads", Integers{any(0, 2), any(0, 2), any(0, 2), any(0, 2)});
    if (round % 2 == 0) convolution.post("Silu");
    if (round % 3 == 0) convolution.post_with_operand("Add");
    check(convolution);
  }
}

/// A 1x1 convolution is one row of pixels.
TEST(DirectConvolution, OfSinglePixels) {
  check(OpCase("Conv").input({2, 70, 23, 19}).constant({33, 70, 1, 1}, -1, 1).constant({33}, -1, 1).post("Relu"));
  check(OpCase("Conv").input({1, 70, 23, 19}).constant({33, 70, 1, 1}, -1, 1).attribute("strides", Integers{2, 2}));
}

/// Panels of each width, the last one whole or partly empty; with sections of the input also.
TEST(DirectConvolution, OfAnyNumberOfFilters) {
  for (const std::int64_t filters : {1, 4, 8, 12, 16, 20, 24, 36, 40, 48, 60, 64, 68, 72, 80, 96, 120, 130, 144, 230}) {
    const auto windows = [&](std::int64_t channels, std::int64_t size) {
      return OpCase("Conv")
          .input({1, channels, 9, 7}, -1, 1)
          .constant({filters, channels, size, size}, -0.1F, 0.1F)
          .constant({filters}, -1, 1);
    };
    check(windows(10, 3).attribute("strides", Integers{2, 2}));
    check(windows(600, 5));
  }
}

/// Weights that do not fit into the cache are read in sections of the input channels, and few pixels are divided by
/// output channels.
TEST(DirectConvolution, InSectionsOfItsInput) {
  check(OpCase("Conv")
            .input({1, 600, 7, 7}, -1, 1)
            .constant({80, 600, 3, 3}, -0.1F, 0.1F)
            .constant({80}, -1, 1)
            .attribute("pads", Integers{1, 1, 1, 1})
            .post_with_operand("Add")
            .post("Relu"));
}

TEST(DirectConvolution, InManyPartsOnTwoThreads) {
  OpCase("Conv")
      .input({1, 32, 60, 60})
      .constant({48, 32, 3, 3}, -1, 1)
      .constant({48}, -1, 1)
      .attribute("pads", Integers{1, 1, 1, 1})
      .post("Silu")
      .check_two_threads(kTactic, Layout::kChannelsLast, kClose);
}

TEST(DirectConvolution, KeepsNan) {
  for (const char* post : {"Relu", "Clip", "HardSwish"})
    OpCase("Conv")
        .input(with_few_specials(random_tensor({1, 30, 12, 12}, -1, 1, 5), 3))
        .constant({33, 30, 3, 3}, -1, 1)
        .attribute("pads", Integers{1, 1, 1, 1})
        .post(post, 0, 6)
        .check(kTactic, {.absolute = 1e-3, .relative = 1e-3}, Layout::kChannelsLast);
}

TEST(DirectConvolution, RefusesWhatItHasNoLoopsFor) {
  const OpCase plain = OpCase("Conv").input({1, 8, 9, 9}).constant({16, 8, 3, 3}, -1, 1);
  EXPECT_TRUE(plain.supports(kTactic, Layout::kChannelsLast));
  EXPECT_FALSE(plain.supports(kTactic, Layout::kRowMajor));
  EXPECT_FALSE(OpCase("Conv").input({1, 8, 9, 9}).input({16, 8, 3, 3}).supports(kTactic, Layout::kChannelsLast));
  EXPECT_FALSE(
      OpCase("Conv").input({0, 8, 9, 9}).constant({16, 8, 3, 3}, -1, 1).supports(kTactic, Layout::kChannelsLast));
  EXPECT_FALSE(OpCase("Conv")
                   .input({1, 8, 9, 9})
                   .constant({8, 1, 3, 3}, -1, 1)
                   .attribute("group", std::int64_t{8})
                   .supports(kTactic, Layout::kChannelsLast));
}

}  // namespace
}  // namespace saccade
