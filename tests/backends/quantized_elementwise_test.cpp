#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.elementwise");
/// A sigmoid's last bit may decide which way a half is rounded.
constexpr Tolerance kOneStep{.absolute = 1, .relative = 0};

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

  static OpCase single(const std::string& op, const Shape& shape, float scale) {
    OpCase node(op, "com.microsoft");
    node.input(bytes(shape, 1)).constant(Tensor::scalar(0.04F)).constant(zero(90));
    return node.constant(Tensor::scalar(scale)).constant(zero(3));
  }
};

TEST_P(QuantizedElementwise, EqualsTheReference) {
  for (const std::string op : {"QLinearAdd", "QLinearMul"}) {
    pair(op, {2, 5, 7, 11}, {2, 5, 7, 11}).check_layouts(kTactic, kExact);
    pair(op, {3, 70, 100}, {3, 70, 100}).check(kTactic, kExact);
  }
}

TEST_P(QuantizedElementwise, Broadcasts) {
  for (const std::string op : {"QLinearAdd", "QLinearMul"}) {
    pair(op, {2, 5, 7, 11}, {5, 1, 1}).check(kTactic, kExact);
    pair(op, {2, 5, 7, 11}, {1, 5, 1, 1}).check_layouts(kTactic, kExact);
    pair(op, {1, 1, 9}, {4, 3, 1}).check(kTactic, kExact);
    pair(op, {1}, {4, 3, 17}).check(kTactic, kExact);
    pair(op, {}, {}).check(kTactic, kExact);
  }
}

TEST_P(QuantizedElementwise, ReadsEachOperandInItsLayout) {
  OpCase node = pair("QLinearAdd", {2, 5, 7, 11}, {2, 5, 7, 11});
  node.input_layout(3, Layout::kRowMajor).check(kTactic, kExact, Layout::kChannelsLast);
}

TEST_P(QuantizedElementwise, OfOneOperand) {
  OpCase bent = single("QLinearLeakyRelu", {3, 70, 100}, 0.03F);
  bent.attribute("alpha", 0.2F).check_layouts(kTactic, kExact);
  single("QLinearSigmoid", {3, 70, 100}, 1 / 128.0F).check_layouts(kTactic, kOneStep);
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
