#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.elementwise");

class QuantizedElementwise : public testing::TestWithParam<DType> {
 protected:
  static Tensor bytes(const Shape& shape, std::uint32_t seed) { return random_bytes(GetParam(), shape, seed); }
  static Tensor zero(int value) { return zero_point(GetParam(), value); }

  static OpCase pair(const std::string& op, const Shape& first, const Shape& second) {
    OpCase node(op, "com.microsoft");
    node.input(bytes(first, 1)).input(Tensor::scalar(0.03F)).constant(zero(7));
    node.input(bytes(second, 2)).constant(Tensor::scalar(0.05F)).absent();
    return node.constant(Tensor::scalar(op == "QLinearMul" ? 0.4F : 0.07F)).input(zero(100));
  }
};

TEST_P(QuantizedElementwise, ReadsEachOperandInItsLayout) {
  OpCase node = pair("QLinearAdd", {2, 5, 7, 11}, {2, 5, 7, 11});
  node.input_layout(3, Layout::kRowMajor).check(kTactic, kExact, Layout::kChannelsLast);
}

TEST_P(QuantizedElementwise, RunsInEitherLayout) {
  EXPECT_EQ(pair("QLinearAdd", {2, 5, 7, 11}, {2, 5, 7, 11}).layout_rule(), LayoutRule::kAny);
}

TEST_P(QuantizedElementwise, RefusesHalfScales) {
  OpCase node("QLinearSigmoid", "com.microsoft");
  node.input(bytes({4}, 1)).constant(Tensor(DType::kFloat16, {})).absent().constant(Tensor::scalar(1.0F)).absent();
  EXPECT_FALSE(node.supports(kTactic).yes);
}

INSTANTIATE_TEST_SUITE_P(Types, QuantizedElementwise, testing::Values(DType::kUInt8, DType::kInt8));

}  // namespace
}  // namespace saccade
