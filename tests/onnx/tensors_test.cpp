#include <array>
#include <cstring>

#include "import.hpp"

namespace saccade {
namespace {

using onnx_writer::Dims;
using onnx_writer::Message;
using onnx_writer::Model;
using onnx_writer::tensor_head;

class TensorsTest : public ImportTest {
 protected:
  static Model model_with(const Message& tensor) { return Model(13).initializer(tensor).output("w"); }
  Tensor read(const Message& tensor) const {
    const Graph graph = import(model_with(tensor));
    return *graph.constant(graph.outputs()[0]);
  }
  /// The elements' bytes.
  static std::vector<int> bytes_of(const Tensor& tensor) {
    std::vector<int> bytes;
    for (std::size_t i = 0; i < tensor.bytes(); ++i) bytes.push_back(static_cast<int>(tensor.raw()[i]));
    return bytes;
  }
};

using Bytes = std::vector<int>;

TEST_F(TensorsTest, ReadsRawBytes) {
  const Tensor tensor = read(onnx_writer::raw_tensor("w", onnx_writer::kInt16, {3}, {"\x01\x00\xff\xff\x00\x80", 6}));

  EXPECT_EQ(tensor.dtype(), DType::kInt16);
  EXPECT_EQ(tensor.shape(), Shape{3});
  EXPECT_EQ(tensor.data<std::int16_t>()[0], 1);
  EXPECT_EQ(tensor.data<std::int16_t>()[1], -1);
  EXPECT_EQ(tensor.data<std::int16_t>()[2], -32768);
}

TEST_F(TensorsTest, ReadsFieldsOfTheirOwn) {
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kFloat, {2}).real(4, 1.5F).real(4, -2)).data<float>()[1], -2);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kInt64, {1}).integer(7, -5)).data<std::int64_t>()[0], -5);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kUInt64, {1}).integer(11, 9)).data<std::uint64_t>()[0], 9U);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kUInt32, {1}).integer(11, 9)).data<std::uint32_t>()[0], 9U);
  const double half = 0.5;
  std::string packed(sizeof half, '\0');
  std::memcpy(packed.data(), &half, sizeof half);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kDouble, {1}).text(10, packed)).data<double>()[0], 0.5);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kString, {2}).texts(6, {"a", "bc"})).strings()[1], "bc");
}

TEST_F(TensorsTest, ReadsSmallTypesFromTheInt32Field) {
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kInt32, {1}).integer(5, -7)).data<std::int32_t>()[0], -7);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kInt8, {1}).integer(5, -7)).data<std::int8_t>()[0], -7);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kUInt8, {1}).integer(5, 200)).data<std::uint8_t>()[0], 200);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kUInt16, {1}).integer(5, 60000)).data<std::uint16_t>()[0], 60000);
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kBool, {2}).integer(5, 0).integer(5, 1)).data<bool>()[1], true);
  // 1.0 is 0x3C00 as a float16 and 0x3F80 as a bfloat16; in E4M3FN it is 0x38.
  EXPECT_EQ(bytes_of(read(tensor_head("w", onnx_writer::kFloat16, {1}).integer(5, 0x3C00))), (Bytes{0x00, 0x3C}));
  EXPECT_EQ(bytes_of(read(tensor_head("w", onnx_writer::kBFloat16, {1}).integer(5, 0x3F80))), (Bytes{0x80, 0x3F}));
  EXPECT_EQ(bytes_of(read(tensor_head("w", onnx_writer::kFloat8E4M3FN, {1}).integer(5, 0x38))), (Bytes{0x38}));
}

TEST_F(TensorsTest, FourBitTypesArePackedTwoToAByte) {
  const Tensor typed = read(tensor_head("w", onnx_writer::kInt4, {3}).integer(5, 0x21).integer(5, 0x0F));
  const Tensor raw = read(onnx_writer::raw_tensor("w", onnx_writer::kUInt4, {3}, "\x21\x0F"));

  EXPECT_EQ(typed.dtype(), DType::kInt4);
  EXPECT_EQ(bytes_of(typed), (Bytes{0x21, 0x0F}));
  EXPECT_EQ(raw.dtype(), DType::kUInt4);
  EXPECT_EQ(bytes_of(raw), (Bytes{0x21, 0x0F}));
}

TEST_F(TensorsTest, AComplexElementIsTwoNumbers) {
  const Tensor tensor = read(tensor_head("w", onnx_writer::kComplex64, {1}).real(4, 1).real(4, 2));

  ASSERT_EQ(tensor.bytes(), 8U);
  std::array<float, 2> parts{};
  std::memcpy(parts.data(), tensor.raw(), 8);
  EXPECT_EQ(parts, (std::array<float, 2>{1, 2}));
}

TEST_F(TensorsTest, AnyByteButZeroIsTrue) {
  const Tensor tensor = read(onnx_writer::raw_tensor("w", onnx_writer::kBool, {3}, {"\x00\x01\x02", 3}));

  EXPECT_EQ(bytes_of(tensor), (Bytes{0, 1, 1}));
}

TEST_F(TensorsTest, ATensorMayBeEmptyOrAScalar) {
  EXPECT_EQ(read(tensor_head("w", onnx_writer::kFloat, {0, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(read(onnx_writer::raw_tensor("w", onnx_writer::kFloat, {0}, "")).elements(), 0);
  EXPECT_EQ(read(onnx_writer::tensor<float>("w", {}, {4})).shape(), Shape{});
}

TEST_F(TensorsTest, MakesSparseTensorsDense) {
  const auto values = onnx_writer::tensor<float>("w", {2}, {5, 6});
  const auto dense = [&](const Message& indices) {
    const Graph graph = import(Model(13).sparse_initializer(values, indices, {2, 3}).output("w"));
    const auto elements = graph.constant(graph.outputs()[0])->data<float>();
    return std::vector<float>(elements.begin(), elements.end());
  };
  const std::vector<float> expected{0, 5, 0, 0, 0, 6};

  EXPECT_EQ(dense(onnx_writer::tensor<std::int64_t>("", {2}, {1, 5})), expected);
  EXPECT_EQ(dense(onnx_writer::tensor<std::int64_t>("", {2, 2}, {0, 1, 1, 2})), expected);
}

TEST_F(TensorsTest, RefusesSparseTensorsThatDoNotFit) {
  const auto values = onnx_writer::tensor<float>("w", {2}, {5, 6});
  const auto error = [&](const Message& indices, const Dims& dims) {
    return error_of(Model(13).sparse_initializer(values, indices, dims).output("w"));
  };

  EXPECT_EQ(error(onnx_writer::tensor<std::int64_t>("", {2}, {1, 6}), {2, 3}),
            "model.onnx: tensor 'w': the sparse index 6 is out of range");
  EXPECT_EQ(error(onnx_writer::tensor<std::int64_t>("", {2, 2}, {0, 1, 1, -1}), {2, 3}),
            "model.onnx: tensor 'w': the sparse index -1 is out of range on axis 1");
  EXPECT_EQ(error(onnx_writer::tensor<std::int64_t>("", {3}, {0, 1, 1}), {2, 3}),
            "model.onnx: tensor 'w': 2 sparse values can't have indices of shape 3");
  EXPECT_EQ(error(onnx_writer::tensor<std::int64_t>("", {2}, {0, 1}), {1 << 20, 1 << 20}),
            "model.onnx: tensor 'w': a sparse tensor of shape 1048576x1048576 is too large to expand");
}

TEST_F(TensorsTest, RefusesDataThatDoNotFitTheShape) {
  const auto error = [&](const Message& tensor) { return error_of(model_with(tensor)); };

  EXPECT_EQ(error(onnx_writer::raw_tensor("w", onnx_writer::kFloat, {2}, "1234")),
            "model.onnx: tensor 'w': a float32 tensor of shape 2 takes 8 bytes, but the file holds 4");
  EXPECT_EQ(error(tensor_head("w", onnx_writer::kFloat, {2}).real(4, 1)),
            "model.onnx: tensor 'w': a float32 tensor of shape 2 takes 2 numbers, but the file holds 1");
  EXPECT_EQ(error(tensor_head("w", onnx_writer::kString, {2}).texts(6, {"a"})),
            "model.onnx: tensor 'w': a string tensor of shape 2 takes 2 strings, but the file holds 1");
  EXPECT_EQ(
      error(tensor_head("w", onnx_writer::kFloat, {2, 3})),
      "model.onnx: tensor 'w': its 6 elements are missing from the file (weights stripped, or external data missing?)");
  EXPECT_EQ(error(onnx_writer::raw_tensor("w", onnx_writer::kString, {1}, "a")),
            "model.onnx: tensor 'w': strings can't be stored as raw bytes");
}

TEST_F(TensorsTest, RefusesImpossibleShapesAndTypes) {
  const auto error = [&](const Message& tensor) { return error_of(model_with(tensor)); };
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;

  EXPECT_EQ(error(tensor_head("w", onnx_writer::kFloat, {-2})),
            "model.onnx: tensor 'w': a tensor can't have the shape -2");
  EXPECT_EQ(error(tensor_head("w", onnx_writer::kFloat, {kHuge, 4})),
            "model.onnx: tensor 'w': a tensor of shape 4611686018427387904x4 is too large");
  // A terabyte is a possible shape, but nothing is allocated before the data are known to exist.
  EXPECT_EQ(error(onnx_writer::raw_tensor("w", onnx_writer::kFloat, {1 << 19, 1 << 19}, "1234")),
            "model.onnx: tensor 'w': a float32 tensor of shape 524288x524288 takes 1099511627776 bytes, but the file "
            "holds 4");
  EXPECT_EQ(error(tensor_head("w", onnx_writer::kFloat, {1, 1, 1, 1, 1, 1, 1, 1, 1})),
            "model.onnx: tensor 'w': tensors of more than 8 dimensions are not supported");
  EXPECT_EQ(error(tensor_head("w", 99, {1})), "model.onnx: tensor 'w': ONNX's element type 99 is not supported");
}

}  // namespace
}  // namespace saccade
