#include "ops/layers/strided_attention.hpp"

#include <numeric>

#include "ops/run_op.hpp"

namespace saccade {
namespace {

using Integers = std::vector<std::int64_t>;

Integers pattern(std::int64_t offset, AccessPattern::Loop batch, AccessPattern::Loop token,
                 AccessPattern::Loop channel) {
  return AccessPattern{.offset = offset, .loops = {std::move(batch), std::move(token), std::move(channel)}}
      .to_integers();
}

/// Two queries and two keys of two channels, values of one; keys and values are in one tensor.
OpCall small_attention() {
  return {.op = "StridedAttention",
          .inputs = {Tensor::of<float>({2, 2}, {1, 0, 0, 2}), Tensor::of<float>({2, 3}, {0, 0, 10, 1, 1, 20}),
                     Tensor::of<float>({2, 3}, {0, 0, 10, 1, 1, 20})},
          .attributes = {{"query", pattern(0, {}, {{2, 2}}, {{2, 1}})},
                         {"key", pattern(0, {}, {{2, 3}}, {{2, 1}})},
                         {"value", pattern(2, {}, {{2, 3}}, {})},
                         {"output", pattern(0, {}, {{2, 1}}, {})},
                         {"shape", Integers{2, 1}}},
          .domain = "saccade"};
}

Tensor ramp(std::int64_t count) {
  Tensor tensor(DType::kFloat32, {count});
  std::iota(tensor.data<float>().begin(), tensor.data<float>().end(), 0.0F);
  return tensor;
}

OpCall with(OpCall call, const std::string& name, Attribute value) {
  for (auto& [key, attribute] : call.attributes)
    if (key == name) attribute = std::move(value);
  return call;
}

TEST(StridedAttention, WeighsValuesBySoftenedScores) {
  // Scores of the queries are (0, 1) and (0, 2).
  const float once = 10 + 10 / (1 + std::exp(-1.0F));
  const float twice = 10 + 10 / (1 + std::exp(-2.0F));
  expect_tensor<float>(small_attention().one(), {2, 1}, {once, twice}, 1e-5);
  OpCall scaled = small_attention();
  scaled.attributes.emplace_back("scale", 0.5F);
  expect_tensor<float>(scaled.one(), {2, 1}, {10 + 10 / (1 + std::exp(-0.5F)), once}, 1e-5);
}

TEST(StridedAttention, AddsAMaskThatIsBroadcast) {
  OpCall masked = small_attention();
  masked.inputs.push_back(Tensor::of<float>({2}, {0, -std::numeric_limits<float>::infinity()}));
  masked.attributes.emplace_back("mask", pattern(0, {}, {{2, 0}}, {{2, 1}}));
  expect_tensor<float>(masked.one(), {2, 1}, {10, 10}, 1e-6);
}

TEST(StridedAttention, WritesOutputsInTheirPattern) {
  // Two heads of one token and two channels: one after the other, or channel by channel.
  OpCall call{.op = "StridedAttention",
              .inputs = {Tensor::of<float>({4}, {1, 2, 3, 4}), Tensor::of<float>({4}, {1, 2, 3, 4}),
                         Tensor::of<float>({4}, {1, 2, 3, 4})},
              .attributes = {{"query", pattern(0, {{2, 2}}, {}, {{2, 1}})},
                             {"key", pattern(0, {{2, 2}}, {}, {{2, 1}})},
                             {"value", pattern(0, {{2, 2}}, {}, {{2, 1}})},
                             {"output", pattern(0, {{2, 2}}, {}, {{2, 1}})},
                             {"shape", Integers{2, 2}}},
              .domain = "saccade"};
  expect_tensor<float>(call.one(), {2, 2}, {1, 2, 3, 4});
  expect_tensor<float>(with(call, "output", pattern(0, {{2, 1}}, {}, {{2, 2}})).one(), {2, 2}, {1, 3, 2, 4});
}

TEST(StridedAttention, RefusesAccessPatternsThatDoNotFit) {
  const auto message = [](const char* name, Integers integers) {
    return with(small_attention(), name, integers).error().second;
  };
  EXPECT_NE(message("query", pattern(0, {}, {{3, 1}}, {{2, 1}})).find("queries do not fit"), std::string::npos);
  EXPECT_NE(message("key", pattern(0, {}, {{2, 2}}, {})).find("channels do not fit"), std::string::npos);
  EXPECT_NE(message("value", pattern(0, {}, {}, {})).find("keys and values do not fit"), std::string::npos);
  EXPECT_NE(message("output", pattern(0, {}, {{2, 0}}, {})).find("once"), std::string::npos);
  for (const Integers& wrong :
       {pattern(1, {}, {{2, 3}}, {{2, 3}}), pattern(-1, {}, {{2, 2}}, {{2, 1}}), pattern(0, {}, {{2, -2}}, {{2, 1}}),
        pattern(0, {}, {{1, 2}}, {{2, 1}}), Integers{}, Integers{0, 0, 1, 1, 2, 2}, Integers{0, 0, 0, 0, 2, 1}})
    EXPECT_NE(message("key", wrong).find("is invalid"), std::string::npos);
}

/// Otherwise a small file could have any number of keys and channels.
TEST(StridedAttention, RefusesKeysAndChannelsThatOverlap) {
  const auto call = [](AccessPattern::Loop keys, AccessPattern::Loop channels) {
    return OpCall{.op = "StridedAttention",
                  .inputs = {Tensor::of<float>({4}, {1, 2, 3, 4}), ramp(16), ramp(16)},
                  .attributes = {{"query", pattern(0, {}, {}, channels)},
                                 {"key", pattern(0, {}, keys, {{4, 1}})},
                                 {"value", pattern(0, {}, keys, {})},
                                 {"output", pattern(0, {}, {}, {})},
                                 {"shape", Integers{1}}},
                  .domain = "saccade"};
  };
  EXPECT_NO_THROW(call({{2, 2}, {2, 4}}, {{2, 1}, {2, 2}}).one()) << "transposed";
  EXPECT_NE(call({{2, 4}, {2, 4}}, {{4, 1}}).error().second.find("keys do not fit"), std::string::npos);
  EXPECT_NE(call({{4, 4}}, {{2, 1}, {2, 1}}).error().second.find("channels do not fit"), std::string::npos);
}

TEST(AccessPattern, ComposesWithDimensionsThatItsStepsFit) {
  // Rows of a 2 x 3 x 4 tensor that is a transposed 4 x 3 x 2 one.
  const Origin transposed{.steps = {1, 2, 6}};
  AccessPattern rows{.loops = {AccessPattern::Loop{{6, 4}}, AccessPattern::Loop{}, AccessPattern::Loop{{4, 1}}}};
  const auto through = compose(rows, {2, 3, 4}, transposed);
  ASSERT_TRUE(through);
  EXPECT_EQ(through->loops[0], (AccessPattern::Loop{{2, 1}, {3, 2}}));
  EXPECT_EQ(through->loops[2], (AccessPattern::Loop{{4, 6}}));
  // Every third element carries over within a row.
  rows.loops = {AccessPattern::Loop{{8, 3}}, AccessPattern::Loop{}, AccessPattern::Loop{}};
  EXPECT_FALSE(compose(rows, {2, 3, 4}, transposed));
}

TEST(AccessPattern, ComposesAsItsOriginSays) {
  // All splits of 48 elements into three loops, with all offsets of a sliced and transposed tensor.
  const Shape shape{4, 3, 4};
  const Origin origin{.offset = 5, .steps = {2, 60, 9}};
  int found = 0;
  for (const std::int64_t a : {1, 2, 3, 4, 6, 8, 12})
    for (const std::int64_t b : {1, 2, 3, 4, 6, 12}) {
      if (48 % (a * b) != 0) continue;
      AccessPattern pattern;
      pattern.loops = {AccessPattern::Loop{{a, 48 / a}}, AccessPattern::Loop{{b, 48 / a / b}},
                       AccessPattern::Loop{{48 / a / b, 1}}};
      pattern.simplify();
      const auto through = compose(pattern, shape, origin);
      if (!through) continue;
      ++found;
      for (std::int64_t i = 0; i < 48; ++i) {
        const std::int64_t iterations[] = {i / (48 / a), i / (48 / a / b) % b, i % (48 / a / b)};
        std::int64_t place = through->offset;
        for (std::size_t loop = 0; loop < 3; ++loop) place += through->along(loop, iterations[loop]);
        EXPECT_EQ(place, 5 + i / 12 * 2 + i / 4 % 3 * 60 + i % 4 * 9);
      }
    }
  EXPECT_GT(found, 10);
}

}  // namespace
}  // namespace saccade
