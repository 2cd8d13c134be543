#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("onednn.quantized_matmul");

struct Types {
  DType left;
  DType right;
};
void PrintTo(const Types& types, std::ostream* out) { *out << to_string(types.left) << ',' << to_string(types.right); }

class QuantizedMatMul : public testing::TestWithParam<Types> {
 protected:
  /// By the tactic; a processor without VNNI has the reference alone.
  static void check(const OpCase& node) {
    const Support support = node.supports(kTactic);
    node.check(support.yes ? kTactic : on_cpu("reference"), kExact);
    EXPECT_TRUE(support.yes || support.reason.find("VNNI") != std::string::npos) << support.reason;
  }

  static DType left() { return GetParam().left; }
  static DType right() { return GetParam().right; }

  static OpCase& operand(OpCase& node, Tensor tensor, bool constant) {
    return constant ? node.constant(std::move(tensor)) : node.input(std::move(tensor));
  }

  /// Without zero points, with one for the matrix (known to the run alone), or with one a column.
  static void check_integer(const Shape& left_shape, const Shape& right_shape, bool constant) {
    OpCase plain("MatMulInteger");
    operand(plain.input(random_bytes(left(), left_shape, 1)), random_bytes(right(), right_shape, 2), constant);
    check(plain);
    for (const std::int64_t columns : {std::int64_t{1}, right_shape.back()}) {
      OpCase moved("MatMulInteger");
      operand(moved.input(random_bytes(left(), left_shape, 3)), random_bytes(right(), right_shape, 4), constant)
          .input(zero_point(left(), highest_byte(left()) - 7))
          .input(random_bytes(right(), Shape{columns}, 5));
      check(moved);
    }
  }

  static OpCase requantized(const Shape& left_shape, const Shape& right_shape, bool constant, std::int64_t columns) {
    OpCase node("QLinearMatMul");
    node.input(random_bytes(left(), left_shape, 6))
        .constant(Tensor::scalar(0.02F))
        .constant(zero_point(left(), highest_byte(left()) / 2));
    operand(node, random_bytes(right(), right_shape, 7), constant)
        .constant(random_tensor({columns}, 0.01F, 0.02F, 8))
        .constant(random_bytes(right(), Shape{columns}, 9))
        .constant(Tensor::scalar(0.4F))
        .constant(zero_point(left(), 3));
    return node;
  }
};

TEST_P(QuantizedMatMul, ByPackedWeights) {
  check_integer({5, 7}, {7, 9}, true);
  check_integer({2, 33, 64}, {64, 130}, true);
  check_integer({1, 200}, {200, 1}, true);
}

TEST_P(QuantizedMatMul, OfTwoActivations) {
  check_integer({7, 19}, {19, 33}, false);
  check_integer({3, 17, 20}, {3, 20, 300}, false);
}

TEST_P(QuantizedMatMul, OfVectors) {
  check_integer({64}, {64, 5}, true);
  OpCase node("MatMulInteger");
  check(node.input(random_bytes(left(), {3, 4, 40}, 1)).input(random_bytes(right(), {40}, 2)));
}

TEST_P(QuantizedMatMul, BroadcastsBatches) {
  check_integer({2, 1, 6, 8}, {3, 8, 5}, false);
  check_integer({4, 8}, {3, 8, 5}, true);
}

TEST_P(QuantizedMatMul, SumsBeyondWhatFloatHolds) {
  OpCase node("MatMulInteger");
  check(node.input(random_integers(left(), {3, 4099}, highest_byte(left()) - 1, highest_byte(left()), 1))
            .constant(random_integers(right(), {4099, 17}, highest_byte(right()) - 1, highest_byte(right()), 2)));
}

TEST_P(QuantizedMatMul, Requantizes) {
  check(requantized({2, 33, 64}, {64, 130}, true, 130));
  check(requantized({3, 17, 20}, {3, 20, 33}, false, 1));
  check(requantized({40}, {40, 19}, false, 19));
}

TEST_P(QuantizedMatMul, RunsOnTwoThreads) {
  const OpCase node = requantized({2, 64, 64}, {64, 600}, true, 600);
  const bool yes = node.supports(kTactic).yes;
  node.check_two_threads(yes ? kTactic : on_cpu("reference"), Layout::kRowMajor, kExact);
}

TEST_P(QuantizedMatMul, RefusesHalfScales) {
  OpCase node("QLinearMatMul");
  node.input(random_bytes(left(), {4, 8}, 1))
      .constant(Tensor(DType::kFloat16, {}))
      .constant(zero_point(left(), 1))
      .constant(random_bytes(right(), {8, 3}, 2))
      .constant(Tensor::scalar(1.0F))
      .constant(zero_point(right(), 1))
      .constant(Tensor::scalar(1.0F))
      .constant(zero_point(left(), 1));
  EXPECT_FALSE(node.supports(kTactic).yes);
}

INSTANTIATE_TEST_SUITE_P(Types, QuantizedMatMul,
                         testing::Values(Types{DType::kUInt8, DType::kInt8}, Types{DType::kUInt8, DType::kUInt8},
                                         Types{DType::kInt8, DType::kInt8}, Types{DType::kInt8, DType::kUInt8}));

/// SHAPE's numbers from LOW to HIGH as bytes, with scale and zero point.
void check_dynamic(const Shape& shape, float low, float high) {
  OpCase node("DynamicQuantizeLinear");
  node.input(shape, low, high).outputs(3).check_layouts(on_cpu("vector.dynamic_quantize"), kExact);
}

TEST(DynamicQuantize, EqualsTheReference) {
  check_dynamic({3}, -1, 1);
  check_dynamic({1, 5, 7, 11}, -3, 2);
  check_dynamic({2, 8, 90, 80}, -1, 4);
  check_dynamic({70001}, 2, 3);
  check_dynamic({17, 19}, -5, -4);
  check_dynamic({16}, 0, 0);
}

TEST(DynamicQuantize, CountsNoNaN) {
  Tensor numbers = random_tensor({40000}, -2, 3, 1);
  for (const std::size_t i : {0, 5, 20000, 39999}) numbers.data<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  OpCase node("DynamicQuantizeLinear");
  node.input(std::move(numbers)).outputs(3).check(on_cpu("vector.dynamic_quantize"), kExact);
}

}  // namespace
}  // namespace saccade
