#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.integer_convolution");
using Integers = std::vector<std::int64_t>;

struct Types {
  DType src;
  DType weights;
};
void PrintTo(const Types& types, std::ostream* out) { *out << to_string(types.src) << ',' << to_string(types.weights); }

class IntegerConvolution : public testing::TestWithParam<Types> {
 protected:
  static DType src() { return GetParam().src; }
  static DType weights() { return GetParam().weights; }

  /// By the tactic in both layouts; a processor without VNNI has the reference alone, which reads one.
  static void check(const OpCase& node) {
    const Support support = node.supports(kTactic);
    EXPECT_TRUE(support.yes || support.reason.find("VNNI") != std::string::npos) << support.reason;
    if (support.yes) return node.check_layouts(kTactic, kExact);
    node.check(on_cpu("reference"), kExact);
  }

  /// With a zero point of the image that the run alone knows, and FILTER_ZEROS (one, or one a filter) of the weights.
  static OpCase convolution(const Shape& image, const Shape& filters, std::int64_t groups, Tensor filter_zeros) {
    OpCase node("ConvInteger");
    node.input(random_bytes(src(), image, 1)).constant(random_bytes(weights(), filters, 2));
    node.input(zero_point(src(), highest_byte(src()) - 100)).constant(std::move(filter_zeros));
    return node.attribute("group", groups).attribute("pads", Integers{1, 1, 1, 1});
  }

  static OpCase requantized(const Shape& image, const Shape& filters, std::int64_t groups, Tensor filter_zeros) {
    OpCase node("QLinearConv");
    node.input(random_bytes(src(), image, 1)).constant(Tensor::scalar(0.02F)).constant(zero_point(src(), 20));
    node.constant(random_bytes(weights(), filters, 2)).constant(random_tensor({filters[0]}, 0.01F, 0.02F, 3));
    node.constant(std::move(filter_zeros)).constant(Tensor::scalar(0.5F)).constant(zero_point(src(), 17));
    node.constant(random_integers(DType::kInt32, {filters[0]}, -3000, 3000, 4));
    return node.attribute("group", groups).attribute("pads", Integers{1, 1, 1, 1});
  }

  /// Weights in the middle of their range, near which most models have their zero point.
  static Tensor middle() { return zero_point(weights(), weights() == DType::kUInt8 ? 128 : 0); }
};

TEST_P(IntegerConvolution, EqualsTheReference) {
  check(convolution({2, 8, 9, 11}, {16, 8, 3, 3}, 1, middle()));
  check(convolution({1, 7, 9, 11}, {20, 7, 1, 1}, 1, middle()));
}

TEST_P(IntegerConvolution, InGroups) {
  check(convolution({1, 24, 9, 11}, {24, 1, 3, 3}, 24, middle()));
  check(convolution({1, 12, 9, 11}, {16, 6, 5, 5}, 2, middle()));
}

TEST_P(IntegerConvolution, AddsUpWeightsOfNineBits) {
  check(convolution({2, 8, 9, 11}, {16, 8, 3, 3}, 1, random_bytes(weights(), {16}, 3)));
  check(convolution({1, 24, 9, 11}, {24, 1, 3, 3}, 24, zero_point(weights(), lowest_byte(weights()) + 3)));
  check(convolution({1, 12, 9, 11}, {16, 6, 5, 5}, 2, zero_point(weights(), highest_byte(weights()))));
}

TEST_P(IntegerConvolution, AddsUpSumsBeyondWhatFloatHolds) {
  OpCase node("ConvInteger");
  node.input(random_integers(src(), {1, 400, 5, 5}, highest_byte(src()) - 3, highest_byte(src()), 1))
      .constant(random_integers(weights(), {16, 400, 3, 3}, highest_byte(weights()) - 3, highest_byte(weights()), 2))
      .input(zero_point(src(), lowest_byte(src()) + 1))
      .constant(middle());
  check(node.attribute("pads", Integers{1, 1, 1, 1}));
}

TEST_P(IntegerConvolution, WithoutZeroPoints) {
  OpCase node("ConvInteger");
  node.input(random_bytes(src(), {1, 8, 9, 11}, 1)).constant(random_bytes(weights(), {16, 8, 3, 3}, 2));
  check(node.attribute("strides", Integers{2, 2}));
}

TEST_P(IntegerConvolution, OfLinesAndVolumes) {
  OpCase line("ConvInteger");
  line.input(random_bytes(src(), {2, 5, 30}, 1)).constant(random_bytes(weights(), {6, 5, 3}, 2));
  check(line.input(zero_point(src(), 5)));
  OpCase volume("ConvInteger");
  volume.input(random_bytes(src(), {1, 3, 5, 6, 7}, 1)).constant(random_bytes(weights(), {6, 3, 3, 3, 3}, 2));
  check(volume.input(zero_point(src(), 5)));
}

TEST_P(IntegerConvolution, Requantizes) {
  check(requantized({2, 8, 9, 11}, {16, 8, 3, 3}, 1, random_bytes(weights(), {16}, 3)));
  check(requantized({1, 3, 20, 21}, {300, 3, 1, 1}, 1, middle()));
  check(requantized({1, 24, 9, 11}, {24, 1, 3, 3}, 24, zero_point(weights(), lowest_byte(weights()) + 3)));
}

TEST_P(IntegerConvolution, RequantizesByWhatTheRunAloneKnows) {
  OpCase node("QLinearConv");
  node.input(random_bytes(src(), {1, 8, 9, 11}, 1)).input(Tensor::scalar(0.02F)).input(zero_point(src(), 5));
  node.constant(random_bytes(weights(), {16, 8, 3, 3}, 2)).input(Tensor::scalar(0.01F)).constant(middle());
  check(node.input(Tensor::scalar(0.3F)).input(zero_point(src(), 7)));
}

TEST_P(IntegerConvolution, RunsOnTwoThreads) {
  const OpCase node = convolution({2, 8, 9, 11}, {16, 8, 3, 3}, 1, random_bytes(weights(), {16}, 3));
  if (node.supports(kTactic).yes) return node.check_two_threads(kTactic, Layout::kChannelsLast, kExact);
  node.check_two_threads(on_cpu("reference"), Layout::kRowMajor, kExact);
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerConvolution,
                         testing::Values(Types{DType::kUInt8, DType::kInt8}, Types{DType::kUInt8, DType::kUInt8},
                                         Types{DType::kInt8, DType::kInt8}, Types{DType::kInt8, DType::kUInt8}));

}  // namespace
}  // namespace saccade
