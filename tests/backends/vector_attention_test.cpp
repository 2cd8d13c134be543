#include "op_case/attention_case.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

using namespace attention_case;

constexpr On kTactic = on_cpu("vector.attention");
constexpr Tolerance kClose{.absolute = 2e-5, .relative = 2e-5};

TEST(VectorAttention, OfRandomSizes) {
  RandomSizes any(3);
  for (int round = 0; round < 40; ++round) {
    const Lengths lengths{.images = any(1, 2),
                          .heads = any(1, 3),
                          .queries = any(1, 120),
                          .keys = any(1, 150),
                          .channels = any(1, 40),
                          .values = any(1, 40)};
    OpCase made = separate(lengths);
    if (round % 2 == 0) add_mask(made, lengths, DType::kFloat32);
    made.check(kTactic, kClose);
  }
}

/// Chunks of keys, the last of which is partial.
TEST(VectorAttention, OfManyKeys) {
  separate({.heads = 2, .queries = 50, .keys = 1100, .channels = 32, .values = 40}).check(kTactic, kClose);
  separate({.heads = 1, .queries = 7, .keys = 512, .channels = 16, .values = 16}).check(kTactic, kClose);
  const Lengths lengths{.heads = 1, .queries = 9, .keys = 1030};
  OpCase masked = separate(lengths);
  add_mask(masked, lengths, DType::kFloat32);
  masked.check(kTactic, kClose);
}

TEST(VectorAttention, HidesKeysByInfinityAndByTheLowestNumber) {
  hidden_keys(70, DType::kFloat32).check(kTactic, kClose);
  hidden_keys(1400, DType::kFloat32).check(kTactic, kClose);
}

TEST(VectorAttention, ScalesDownwardsAndByNothing) {
  separate({.keys = 90}).attribute("scale", -0.7F).check(kTactic, kClose);
  separate({.keys = 90}).attribute("scale", 0.0F).check(kTactic, kClose);
}

TEST(VectorAttention, ReadsOperandsWhereTheyAre) {
  of_one_tensor(2, 21, DType::kFloat32).check(kTactic, kClose);
  of_images(DType::kFloat32, 4).check_layouts(kTactic, kClose);
  of_windows(DType::kFloat32).check(kTactic, kClose);
}

TEST(VectorAttention, OnTwoThreads) {
  separate({.heads = 3, .queries = 130, .keys = 600, .channels = 32, .values = 32})
      .check_two_threads(kTactic, Layout::kRowMajor, kClose);
}

TEST(VectorAttention, KeepsNan) {
  const Lengths lengths{.heads = 1, .queries = 30, .keys = 600};
  // In one operand at a time: a NaN in a key alone reaches every query.
  for (const std::size_t operand : {0, 1, 2}) {
    OpCase made = attention(lengths);
    for (const std::size_t i : {0, 1, 2}) {
      const Tensor numbers = random_tensor({1, i == 0 ? 30 : 600, 16}, -1, 1, 5 + static_cast<unsigned>(i));
      made.input(i == operand ? with_few_specials(numbers, 3) : numbers);
    }
    made.attribute("query", rows(lengths, 30, 16, 0, 16))
        .attribute("key", rows(lengths, 600, 16, 0, 16))
        .attribute("value", rows(lengths, 600, 16, 0, 16));
    made.check(kTactic, kClose);
  }
}

TEST(VectorAttention, RefusesOtherTypes) {
  EXPECT_TRUE(separate({}).supports(kTactic));
  EXPECT_FALSE(separate({}, DType::kFloat64).supports(kTactic));
  OpCase masked = separate({});
  add_mask(masked, {}, DType::kFloat64);
  EXPECT_FALSE(masked.supports(kTactic));
}

}  // namespace
}  // namespace saccade
