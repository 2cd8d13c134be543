#include "op_case/op_case.hpp"

namespace saccade {
namespace {

TEST(Convert, CastsBetweenNumbers) {
  for (std::int64_t to : {1, 2, 3, 6, 7, 9, 10, 11}) {
    if (to == 10) continue;  // float16, which the tests can't compare
    OpCase("Cast").input({2, 3, 50, 7}, -300, 300).attribute("to", to).check_layouts(on_cpu("vector.convert"), kExact);
    OpCase("Cast")
        .input(random_integers(DType::kInt64, {40000}, -9, 9, 1))
        .attribute("to", to)
        .check(on_cpu("vector.convert"), kExact);
  }
}

TEST(Convert, CastsSumsBeyondWhatFloatHolds) {
  OpCase("Cast")
      .input(random_integers(DType::kInt32, {2, 3, 150, 77}, -2000000000, 2000000000, 1))
      .attribute("to", std::int64_t{1})
      .check_layouts(on_cpu("vector.convert"), kExact);
}

TEST(Convert, QuantizesHalfToEvenAndSaturates) {
  OpCase("QuantizeLinear")
      .input(Tensor::of<float>({8}, {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, 300, -300, 126.4F}))
      .constant(Tensor::scalar(1.0F))
      .constant(Tensor::scalar<std::int8_t>(1))
      .check(on_cpu("vector.convert"), kExact);
  OpCase("QuantizeLinear")
      .input({2, 3, 50, 7}, -3, 3)
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts(on_cpu("vector.convert"), kExact);
}

TEST(Convert, Dequantizes) {
  OpCase("DequantizeLinear")
      .input(random_integers(DType::kUInt8, {2, 3, 50, 7}, 0, 255, 1))
      .constant(Tensor::scalar(0.02F))
      .constant(Tensor::scalar<std::uint8_t>(128))
      .check_layouts(on_cpu("vector.convert"), kExact);
  OpCase("DequantizeLinear")
      .input(random_integers(DType::kInt8, {77}, -128, 127, 1))
      .constant(Tensor::scalar(0.3F))
      .check(on_cpu("vector.convert"), kExact);
}

TEST(Gather, CopiesBlocks) {
  for (std::int64_t axis : {0, 1, 2})
    OpCase("Gather")
        .input({3, 5, 7})
        .input(Tensor::of<std::int64_t>({2, 2}, {0, -1, 2, -3}))
        .attribute("axis", axis)
        .check(on_cpu("vector.gather"), kExact);
  OpCase("Gather").input({3, 5}).constant(Tensor::scalar<std::int64_t>(-1)).check(on_cpu("vector.gather"));
  OpCase("Gather").input({3, 5}).input(Tensor(DType::kInt64, {0})).check(on_cpu("vector.gather"));
}

TEST(Gather, NamesAnIndexOutsideItsDimension) {
  try {
    OpCase("Gather").input({3, 5}).input(Tensor::of<std::int64_t>({1}, {3})).run(on_cpu("vector.gather"));
    FAIL() << "index 3 of 3 was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("index 3"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace saccade
