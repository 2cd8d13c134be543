#include <random>

#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("sliced.elementwise");
const Shape kImage{2, 5, 64, 64};

Tensor integers(DType dtype, const Shape& shape, std::uint32_t seed) {
  return random_integers(dtype, shape, -9, 9, seed);
}

Tensor bools(const Shape& shape) {
  Tensor tensor(DType::kBool, shape);
  for (std::size_t i = 0; i < tensor.data<bool>().size(); ++i) tensor.data<bool>()[i] = i % 3 == 0;
  return tensor;
}

struct Case {
  Shape a;
  Shape b;
};
void PrintTo(const Case& shapes, std::ostream* out) { *out << shapes.a.to_string() << ',' << shapes.b.to_string(); }

class SlicedTest : public testing::TestWithParam<Case> {};

TEST_P(SlicedTest, BinaryOperatorsAgree) {
  const auto& [a, b] = GetParam();
  for (const char* op : {"Add", "Mod", "Less", "Equal", "BitwiseXor"})
    OpCase(op).input(integers(DType::kInt32, a, 1)).input(integers(DType::kInt32, b, 2)).check(kTactic);
  OpCase("Greater").input(a).input(b).check(kTactic);
  OpCase("Or").input(bools(a)).input(bools(b)).check(kTactic);
}

TEST_P(SlicedTest, WhereChoosesBetweenThree) {
  const auto& [a, b] = GetParam();
  OpCase("Where").input(bools(b)).input(a).constant(Tensor::scalar(-1.0F)).check(kTactic);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SlicedTest,
                         testing::Values(Case{kImage, kImage}, Case{kImage, {}}, Case{kImage, {64}},
                                         Case{kImage, {5, 1, 1}}, Case{kImage, {2, 1, 64, 64}},
                                         Case{{1, 1, 200, 200}, {200, 1}}, Case{{200, 1}, {1, 1, 200}},
                                         Case{{300, 1, 1}, {300, 200, 1}}));

/// SHAPE's last dimensions, some of them 1.
Shape broadcast_of(const Shape& shape, std::mt19937& random) {
  Shape part;
  for (int i = static_cast<int>(random() % 5); i < shape.rank(); ++i) part.push_back(random() % 3 == 0 ? 1 : shape[i]);
  return part;
}

TEST(Sliced, AgreesOnRandomShapes) {
  std::mt19937 random(3);
  int taken = 0;
  for (int round = 0; round < 25; ++round) {
    Shape shape;
    for (int i = 0; i < 4; ++i) shape.push_back(random() % 8 == 0 ? 1 : 12 + static_cast<int>(random() % 7));
    const Shape a = broadcast_of(shape, random);
    const Shape b = broadcast_of(shape, random);
    OpCase sum("Sub");
    sum.input(integers(DType::kInt16, a, 1)).input(integers(DType::kInt16, b, 2));
    OpCase choice("Where");
    choice.input(bools(a)).input(b).input(shape);
    for (const OpCase* each : {&sum, &choice}) {
      if (!each->supports(kTactic)) continue;
      SCOPED_TRACE(testing::Message() << "round " << round);
      each->check(kTactic);
      ++taken;
    }
  }
  EXPECT_GT(taken, 10);
}

TEST(Sliced, UnaryOperatorsAgree) {
  OpCase("Not").input(bools(kImage)).check(kTactic);
  OpCase("IsNaN").input(kImage).check(kTactic);
  OpCase("Neg").input(integers(DType::kInt64, kImage, 1)).check(kTactic);
  OpCase("Clip")
      .input(integers(DType::kInt32, kImage, 1))
      .constant(Tensor::scalar<std::int32_t>(-3))
      .constant(Tensor::of<std::int32_t>({1}, {4}))
      .check(kTactic);
}

TEST(Sliced, TakesEveryElementwiseOperator) {
  for (const char* op : {"Asinh", "Cosh", "Sinh", "Tan"}) OpCase(op).input(kImage).check(kTactic);
  OpCase("CastLike").input(kImage).input(integers(DType::kInt32, {3, 7}, 1)).check(kTactic);
  // Its reference kernel allocates.
  EXPECT_FALSE(OpCase("Pow").input(kImage).input(kImage).supports(kTactic));
}

TEST(Sliced, LeavesWhatIsSmallOrLiesOtherwise) {
  EXPECT_FALSE(OpCase("Not").input(bools({100})).supports(kTactic));
  EXPECT_FALSE(OpCase("Not").input(bools(kImage)).supports(kTactic, Layout::kChannelsLast));
  EXPECT_FALSE(OpCase("Transpose").input(kImage).supports(kTactic));
}

TEST(Sliced, KeepsIntegersRowMajor) {
  const OpCase integer_sum =
      OpCase("Add").input(integers(DType::kInt32, kImage, 1)).input(integers(DType::kInt32, kImage, 2));
  EXPECT_EQ(integer_sum.layout_rule(), LayoutRule::kRowMajor);
}

}  // namespace
}  // namespace saccade
