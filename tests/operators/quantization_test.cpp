#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

/// A sigmoid's last bit may decide which way a half is rounded.
constexpr Tolerance kOneStep{.absolute = 1, .relative = 0};

struct Quantized {
  DType dtype;

  Tensor bytes(const Shape& shape, std::uint32_t seed) const { return random_bytes(dtype, shape, seed); }
  Tensor zero(int value) const { return zero_point(dtype, value); }

  OpCase pair(const std::string& op, const Shape& first, const Shape& second) const {
    OpCase node(op, "com.microsoft");
    node.input(bytes(first, 1)).input(Tensor::scalar(0.03F)).constant(zero(7));
    node.input(bytes(second, 2)).constant(Tensor::scalar(0.05F)).absent();
    return node.constant(Tensor::scalar(op == "QLinearMul" ? 0.4F : 0.07F)).input(zero(100));
  }

  OpCase single(const std::string& op, const Shape& shape, float scale) const {
    OpCase node(op, "com.microsoft");
    node.input(bytes(shape, 1)).constant(Tensor::scalar(0.04F)).constant(zero(90));
    return node.constant(Tensor::scalar(scale)).constant(zero(3));
  }
};

constexpr Quantized kByteTypes[] = {{DType::kUInt8}, {DType::kInt8}};

using Integers = std::vector<std::int64_t>;

// A quotient halfway between two integers may round to either.
constexpr Tolerance kStep{.absolute = 1, .relative = 0};

SACCADE_EVERY_BACKEND(Quantization);
SACCADE_EVERY_BACKEND(QuantizedElementwise);

TEST_P(Quantization, CastsBetweenNumbers) {
  for (std::int64_t to : {1, 2, 3, 6, 7, 9, 11}) {
    OpCase("Cast").input({2, 3, 50, 7}, -300, 300).attribute("to", to).check_layouts(by("vector.convert"), kExact);
    OpCase("Cast")
        .input(random_integers(DType::kInt64, {40000}, -9, 9, 1))
        .attribute("to", to)
        .check(by("vector.convert"), kExact);
  }
}

TEST_P(Quantization, CastsSumsBeyondWhatFloatHolds) {
  OpCase("Cast")
      .input(random_integers(DType::kInt32, {2, 3, 150, 77}, -2000000000, 2000000000, 1))
      .attribute("to", std::int64_t{1})
      .check_layouts(by("vector.convert"), kExact);
}

TEST_P(Quantization, QuantizesHalfToEvenAndSaturates) {
  OpCase("QuantizeLinear")
      .input(Tensor::of<float>({8}, {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 300, -300, 126.4F}))
      .constant(Tensor::scalar(1.0F))
      .constant(Tensor::scalar<std::int8_t>(1))
      .check(by("vector.convert"), kExact);
  OpCase("QuantizeLinear")
      .input({2, 3, 50, 7}, -3, 3)
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts(by("vector.convert"), kExact);
}

TEST_P(Quantization, Dequantizes) {
  OpCase("DequantizeLinear")
      .input(random_integers(DType::kUInt8, {2, 3, 50, 7}, 0, 255, 1))
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts(by("vector.convert"), kExact);
  OpCase("DequantizeLinear")
      .input(random_integers(DType::kInt8, {77}, -128, 127, 1))
      .constant(Tensor::scalar(0.3F))
      .check(by("vector.convert"), kExact);
}

TEST_P(QuantizedElementwise, EqualsTheReference) {
  for (const Quantized& bytes : kByteTypes) {
    for (const std::string op : {"QLinearAdd", "QLinearMul"}) {
      bytes.pair(op, {2, 5, 7, 11}, {2, 5, 7, 11}).check_layouts(by("vector.elementwise"), kExact);
      bytes.pair(op, {3, 70, 100}, {3, 70, 100}).check(by("vector.elementwise"), kExact);
    }
  }
}

TEST_P(QuantizedElementwise, Broadcasts) {
  for (const Quantized& bytes : kByteTypes) {
    for (const std::string op : {"QLinearAdd", "QLinearMul"}) {
      bytes.pair(op, {2, 5, 7, 11}, {5, 1, 1}).check(by("vector.elementwise"), kExact);
      bytes.pair(op, {2, 5, 7, 11}, {1, 5, 1, 1}).check_layouts(by("vector.elementwise"), kExact);
      bytes.pair(op, {1, 1, 9}, {4, 3, 1}).check(by("vector.elementwise"), kExact);
      bytes.pair(op, {1}, {4, 3, 17}).check(by("vector.elementwise"), kExact);
      bytes.pair(op, {}, {}).check(by("vector.elementwise"), kExact);
    }
  }
}

TEST_P(QuantizedElementwise, OfOneOperand) {
  for (const Quantized& bytes : kByteTypes) {
    OpCase bent = bytes.single("QLinearLeakyRelu", {3, 70, 100}, 0.03F);
    bent.attribute("alpha", 0.2F).check_layouts(by("vector.elementwise"), kExact);
    bytes.single("QLinearSigmoid", {3, 70, 100}, 1 / 128.0F).check_layouts(by("vector.elementwise"), kOneStep);
  }
}

TEST_P(Quantization, GoesThereAndBack) {
  for (DType dtype : {DType::kUInt8, DType::kInt8, DType::kInt16}) {
    OpCase("QuantizeLinear")
        .input({2, 3, 4, 5}, -9, 9)
        .constant({}, 0.04F, 0.05F)
        .constant(random_elements(dtype, {}, 1, 9, 3))
        .check_layouts(by("", "elements.quantization"), kStep);
    OpCase("DequantizeLinear")
        .input(dtype, {2, 3, 4, 5}, 0, 100)
        .input({3}, 0.1F, 1)
        .input(dtype, {3}, 0, 9)
        .check_layouts(by("", "elements.quantization"));
  }
  OpCase("DequantizeLinear")
      .input(DType::kInt8, {6, 8}, -99, 99)
      .input({3, 8}, 0.1F, 1)
      .attribute("axis", std::int64_t{0})
      .attribute("block_size", std::int64_t{2})
      .check(by("", "elements.quantization"));
  OpCase("QuantizeLinear")
      .input(DType::kFloat16, {4, 8}, -9, 9)
      .input(DType::kFloat16, {8}, 0.1F, 1)
      .check(by("", "elements.quantization"), kStep);
  OpCase("DequantizeLinear")
      .input(DType::kInt32, {7}, -9999, 9999)
      .input({}, 0.1F, 1)
      .check(by("", "elements.quantization"));
}

TEST_P(Quantization, CombinesPairs) {
  for (const char* op : {"QLinearAdd", "QLinearMul"})
    for (DType dtype : {DType::kUInt8, DType::kInt8})
      OpCase(op, "com.microsoft")
          .input(dtype, {2, 3, 5}, 0, 120)
          .constant(Tensor::scalar(0.02F))
          .constant(random_elements(dtype, {}, 1, 9, 3))
          .input(dtype, {3, 1}, 0, 120)
          .constant(Tensor::scalar(0.03F))
          .absent()
          .constant(Tensor::scalar(0.05F))
          .constant(random_elements(dtype, {}, 1, 9, 4))
          .check_layouts(by("", "elements.quantized_pairs"), kStep);
}

}  // namespace
}  // namespace saccade
