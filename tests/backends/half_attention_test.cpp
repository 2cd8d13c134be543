#include "op_case/attention_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using namespace attention_case;

constexpr On kTactic = on_cpu("bf16.attention");
constexpr DType kHalf = DType::kBFloat16;
// The exponentials are rounded before they weight the values.
constexpr Tolerance kClose{.absolute = 2e-2, .relative = 2e-2};

TEST(HalfAttention, OfRandomSizes) {
  RandomSizes any(3);
  for (int round = 0; round < 40; ++round) {
    const Lengths lengths{.images = any(1, 2),
                          .heads = any(1, 3),
                          .queries = any(1, 120),
                          .keys = any(1, 150),
                          .channels = any(1, 70),
                          .values = any(1, 70)};
    OpCase made = separate(lengths, kHalf);
    if (round % 2 == 0) add_mask(made, lengths, DType::kFloat32);
    made.check(kTactic, kClose);
  }
}

TEST(HalfAttention, OfWholeSteps) {
  separate({.heads = 2, .queries = 70, .keys = 96, .channels = 64, .values = 64}, kHalf).check(kTactic, kClose);
}

/// Chunks of keys, the last of which is partial.
TEST(HalfAttention, OfManyKeys) {
  separate({.heads = 2, .queries = 50, .keys = 2100, .channels = 32, .values = 40}, kHalf).check(kTactic, kClose);
  const Lengths lengths{.heads = 1, .queries = 9, .keys = 1030};
  OpCase masked = separate(lengths, kHalf);
  add_mask(masked, lengths, DType::kFloat32);
  masked.check(kTactic, kClose);
}

TEST(HalfAttention, HidesKeysByInfinityAndByTheLowestNumber) {
  hidden_keys(70, kHalf).check(kTactic, kClose);
  hidden_keys(1400, kHalf).check(kTactic, kClose);
}

TEST(HalfAttention, ReadsOperandsWhereTheyAre) {
  of_one_tensor(2, 21, kHalf).check(kTactic, kClose);
  of_images(kHalf, 4).check_layouts(kTactic, kClose);
  of_windows(kHalf).check(kTactic, kClose);
}

TEST(HalfAttention, OnTwoThreads) {
  separate({.heads = 3, .queries = 130, .keys = 600, .channels = 32, .values = 32}, kHalf)
      .check_two_threads(kTactic, Layout::kRowMajor, kClose);
}

TEST(HalfAttention, RefusesOtherTypes) {
  EXPECT_TRUE(separate({}, kHalf).supports(kTactic));
  EXPECT_FALSE(separate({}).supports(kTactic));
}

}  // namespace
}  // namespace saccade
