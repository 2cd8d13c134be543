#include "op_case/op_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.winograd");
constexpr On kHalfTactic = on_cpu("bf16.winograd");
// Sums of up to 9 * 100 products of numbers up to 1; the transforms round about four times as much as direct sums.
constexpr Tolerance kClose{.absolute = 2e-4, .relative = 1e-4};
// The reference rounds before each post-op, the kernels round once: 8 bits of sums of up to 30.
constexpr Tolerance kHalfClose{.absolute = 0.12, .relative = 2e-2};
using Integers = std::vector<std::int64_t>;

void check(const OpCase& convolution) {
  convolution.check(kTactic, kClose, Layout::kChannelsLast);
  convolution.in(DType::kBFloat16).check(kHalfTactic, kHalfClose, Layout::kChannelsLast);
}

OpCase convolution(const Shape& input, std::int64_t filters, const Integers& pads) {
  OpCase made("Conv");
  made.input(input, -1, 1).constant({filters, input[1], 3, 3}, -1, 1).attribute("pads", pads);
  return made;
}

TEST(Winograd, OfRandomSizes) {
  RandomSizes any(4);
  for (int round = 0; round < 50; ++round) {
    const std::int64_t filters = any(1, 100);
    OpCase made = convolution({any(1, 2), any(1, 100), any(3, 30), any(3, 30)}, filters,
                              {any(0, 2), any(0, 2), any(0, 2), any(0, 2)});
    if (round % 2 == 0)
      made.constant({filters}, -1, 1);
    else
      made.absent();
    if (round % 3 == 0) made.post("Silu");
    if (round % 4 == 0) made.post_with_operand("Add");
    check(made);
  }
}

/// Panels of each width, the last one whole or partly empty.
TEST(Winograd, OfAnyNumberOfFilters) {
  for (const std::int64_t filters : {1, 4, 8, 12, 16, 20, 24, 36, 40, 48, 60, 64, 68, 72, 80, 96, 120, 130, 144, 230})
    check(convolution({1, 24, 18, 13}, filters, {1, 1, 1, 1}).constant({filters}, -1, 1).post("Relu"));
}

/// Strips that begin and end within a line of tiles, and channels in several groups.
TEST(Winograd, InManyPartsOnTwoThreads) {
  const auto check_both = [](const OpCase& made) {
    made.check_two_threads(kTactic, Layout::kChannelsLast, kClose);
    made.in(DType::kBFloat16).check_two_threads(kHalfTactic, Layout::kChannelsLast, kHalfClose);
  };
  check_both(
      convolution({2, 40, 61, 47}, 150, {1, 1, 1, 1}).constant({150}, -1, 1).post_with_operand("Add").post("Relu"));
  check_both(convolution({1, 16, 40, 31}, 144, {1, 1, 1, 1}));
}

/// A pixel that is not finite reaches the pixels that read it, and no others of its tile.
TEST(Winograd, KeepsNanAndInfinity) {
  for (const char* post : {"Relu", "Clip"})
    check(OpCase("Conv")
              .input(with_few_specials(random_tensor({1, 30, 14, 17}, -1, 1, 5), 3))
              .constant({33, 30, 3, 3}, -1, 1)
              .attribute("pads", Integers{1, 1, 1, 1})
              .post(post, 0, 6));
}

/// Sums in the transforms overflow where those of the convolution don't.
TEST(Winograd, OfLargeNumbers) {
  const float large = 2e37F;
  const OpCase made = OpCase("Conv").input({1, 4, 12, 12}, -large, large).constant({8, 4, 3, 3}, -0.1F, 0.1F);
  made.check(kTactic, {.absolute = 1e33, .relative = 1e-4}, Layout::kChannelsLast);
  made.in(DType::kBFloat16).check(kHalfTactic, {.absolute = 1e35, .relative = 2e-2}, Layout::kChannelsLast);
}

TEST(Winograd, LeadsWhereThereAreEnoughTiles) {
  const auto chosen = [](const Shape& input, std::int64_t filters) {
    return convolution(input, filters, {1, 1, 1, 1}).preferred_tactic(TestedBackend::kCpu, Layout::kChannelsLast);
  };
  EXPECT_EQ(chosen({1, 32, 40, 40}, 32), "vector.winograd");
  EXPECT_NE(chosen({1, 32, 3, 3}, 32), "vector.winograd");
  EXPECT_EQ(chosen({1, 8, 40, 40}, 1), "vector.winograd");
  EXPECT_NE(chosen({1, 3, 40, 40}, 32), "vector.winograd");
  EXPECT_NE(chosen({0, 32, 40, 40}, 32), "vector.winograd") << "without images";
}

/// Also where products of bfloat16 are slower than those of float32.
TEST(Winograd, LeavesFewChannelsOfBfloat16ToTheDirectConvolution) {
  const auto chosen = [](std::int64_t channels) {
    return convolution({1, channels, 40, 40}, 32, {1, 1, 1, 1})
        .in(DType::kBFloat16)
        .preferred_tactic(TestedBackend::kCpu, Layout::kChannelsLast);
  };
  EXPECT_EQ(chosen(4), "bf16.convolution");
}

TEST(Winograd, RefusesOtherWindows) {
  const auto supports = [](const Integers& kernel, const Integers& strides, const Integers& dilations) {
    return OpCase("Conv")
        .input({1, 8, 20, 20})
        .constant({16, 8, kernel[0], kernel[1]}, -1, 1)
        .attribute("strides", strides)
        .attribute("dilations", dilations)
        .supports(kTactic, Layout::kChannelsLast)
        .yes;
  };
  EXPECT_TRUE(supports({3, 3}, {1, 1}, {1, 1}));
  EXPECT_FALSE(supports({3, 3}, {2, 1}, {1, 1}));
  EXPECT_FALSE(supports({3, 3}, {1, 1}, {1, 2}));
  EXPECT_FALSE(supports({3, 2}, {1, 1}, {1, 1}));
  EXPECT_FALSE(supports({5, 5}, {1, 1}, {1, 1}));
  EXPECT_FALSE(convolution({1, 8, 20, 20}, 16, {0, 0, 0, 0}).supports(kTactic, Layout::kRowMajor));
  EXPECT_FALSE(OpCase("Conv")
                   .input({1, 32, 20, 20})
                   .constant({32, 16, 3, 3}, -1, 1)
                   .attribute("group", std::int64_t{2})
                   .supports(kTactic, Layout::kChannelsLast));
}

}  // namespace
}  // namespace saccade
