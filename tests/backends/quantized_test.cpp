#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.quantized_convolution");
using Integers = std::vector<std::int64_t>;

struct Types {
  DType src;
  DType weights;
  DType dst;
};
void PrintTo(const Types& types, std::ostream* out) {
  *out << to_string(types.src) << ',' << to_string(types.weights) << ',' << to_string(types.dst);
}

class QuantizedConvolution : public testing::TestWithParam<Types> {
 protected:
  /// By the tactic in both layouts; a processor without VNNI has the reference alone, which reads one.
  static void check(const OpCase& node) {
    if (const Support support = node.supports(kTactic); support.yes) return node.check_layouts(kTactic, kExact);
    node.check(on_cpu("reference"), kExact);
  }

  /// A convolution of bytes with zero points in its middle and a scale a filter.
  static OpCase convolution(std::int64_t groups, const Shape& weights, std::int64_t channels) {
    const Types& types = GetParam();
    OpCase node("QLinearConv");
    node.input(random_bytes(types.src, {1, channels, 9, 11}, 1))
        .constant(Tensor::scalar(0.02F))
        .constant(zero_point(types.src, types.src == DType::kUInt8 ? 120 : -5))
        .constant(random_integers(types.weights, weights, types.weights == DType::kUInt8 ? 1 : -127,
                                  types.weights == DType::kUInt8 ? 255 : 127, 2))
        .constant(random_tensor({weights[0]}, 0.01F, 0.02F, 3))
        .constant(random_integers(types.weights, {weights[0]}, types.weights == DType::kUInt8 ? 128 : 0,
                                  types.weights == DType::kUInt8 ? 128 : 0, 1))
        .constant(Tensor::scalar(0.5F))
        .constant(zero_point(types.dst, types.dst == DType::kUInt8 ? 117 : 3))
        .constant(random_integers(DType::kInt32, {weights[0]}, -3000, 3000, 4))
        .attribute("group", groups)
        .attribute("pads", Integers{1, 1, 1, 1});
    return node;
  }
};

TEST_P(QuantizedConvolution, EqualsTheReference) {
  check(convolution(1, {16, 8, 3, 3}, 8));
  check(convolution(1, {20, 7, 1, 1}, 7));
}

TEST_P(QuantizedConvolution, RunsOnTwoThreads) {
  const OpCase node = convolution(1, {16, 8, 3, 3}, 8);
  if (const Support support = node.supports(kTactic); support.yes)
    return node.check_two_threads(kTactic, Layout::kChannelsLast, kExact);
  node.check_two_threads(on_cpu("reference"), Layout::kRowMajor, kExact);
}

TEST_P(QuantizedConvolution, InGroups) {
  check(convolution(24, {24, 1, 3, 3}, 24));
  check(convolution(2, {16, 6, 3, 3}, 12));
}

TEST_P(QuantizedConvolution, IsRefusedForWantOfVnniAlone) {
  const Support support = convolution(1, {16, 8, 3, 3}, 8).supports(kTactic);
  EXPECT_TRUE(support.yes || support.reason.find("VNNI") != std::string::npos) << support.reason;
}

INSTANTIATE_TEST_SUITE_P(Types, QuantizedConvolution,
                         testing::Values(Types{DType::kUInt8, DType::kInt8, DType::kUInt8},
                                         Types{DType::kUInt8, DType::kUInt8, DType::kUInt8},
                                         Types{DType::kInt8, DType::kInt8, DType::kInt8}));

}  // namespace
}  // namespace saccade
