#include "backends/op_case.hpp"

namespace saccade {
namespace {

constexpr Tolerance kExact{.absolute = 0, .relative = 0};

TEST(Convert, CastsBetweenNumbers) {
  for (std::int64_t to : {1, 2, 3, 6, 7, 9, 10, 11}) {
    if (to == 10) continue;  // float16, which the tests can't compare
    OpCase("Cast").input({2, 3, 50, 7}, -300, 300).attribute("to", to).check_layouts("vector.convert", kExact);
    OpCase("Cast")
        .activation(random_integers(DType::kInt64, {40000}, -9, 9, 1))
        .attribute("to", to)
        .check("vector.convert", Layout::kRowMajor, kExact);
  }
}

TEST(Convert, CastsSumsBeyondWhatFloatHolds) {
  OpCase("Cast")
      .activation(random_integers(DType::kInt32, {2, 3, 150, 77}, -2000000000, 2000000000, 1))
      .attribute("to", std::int64_t{1})
      .check_layouts("vector.convert", kExact);
}

TEST(Convert, QuantizesHalfToEvenAndSaturates) {
  OpCase("QuantizeLinear")
      .activation(Tensor::of<float>({8}, {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 300, -300, 126.4F}))
      .constant(Tensor::scalar(1.0F))
      .constant(Tensor::scalar<std::int8_t>(1))
      .check("vector.convert", Layout::kRowMajor, kExact);
  OpCase("QuantizeLinear")
      .input({2, 3, 50, 7}, -3, 3)
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts("vector.convert", kExact);
}

TEST(Convert, Dequantizes) {
  OpCase("DequantizeLinear")
      .activation(random_integers(DType::kUInt8, {2, 3, 50, 7}, 0, 255, 1))
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts("vector.convert", kExact);
  OpCase("DequantizeLinear")
      .activation(random_integers(DType::kInt8, {77}, -128, 127, 1))
      .constant(Tensor::scalar(0.3F))
      .check("vector.convert", Layout::kRowMajor, kExact);
}

TEST(Gather, CopiesBlocks) {
  for (std::int64_t axis : {0, 1, 2})
    OpCase("Gather")
        .input({3, 5, 7})
        .activation(Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, -3}))
        .attribute("axis", axis)
        .check("vector.gather", Layout::kRowMajor, kExact);
  OpCase("Gather").input({3, 5}).constant(Tensor::scalar<std::int64_t>(-1)).check("vector.gather");
  OpCase("Gather").input({3, 5}).activation(Tensor(DType::kInt64, {0})).check("vector.gather");
}

TEST(Gather, NamesAnIndexOutsideItsDimension) {
  try {
    OpCase("Gather").input({3, 5}).activation(Tensor::of<std::int64_t>({1}, {3})).run("vector.gather");
    FAIL() << "index 3 of 3 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("index 3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace saccade
