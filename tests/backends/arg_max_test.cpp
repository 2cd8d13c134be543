#include <limits>
#include <random>

#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.arg_max");

OpCase arg(const char* op, std::int64_t axis, std::int64_t last) {
  return std::move(OpCase(op).attribute("axis", axis).attribute("select_last_index", last));
}

TEST(ArgMaxKernel, AgreesAlongEveryAxis) {
  for (const char* op : {"ArgMax", "ArgMin"})
    for (std::int64_t axis = 0; axis < 3; ++axis) arg(op, axis, 0).input({3, 21, 143}).check(kTactic);
}

TEST(ArgMaxKernel, TakesTheFirstOrTheLastOfEquals) {
  Tensor ties(DType::kFloat32, {75, 75});
  for (std::size_t i = 0; i < ties.data<float>().size(); ++i) ties.data<float>()[i] = static_cast<float>(i * 7 % 3);
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const std::int64_t axis : {0, 1})
      for (const std::int64_t last : {0, 1}) arg(op, axis, last).input(ties).check(kTactic);
}

TEST(ArgMaxKernel, AgreesOnRandomShapes) {
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    Shape shape;
    for (int i = 0; i < 3; ++i) shape.push_back(1 + static_cast<int>(random() % 70));
    SCOPED_TRACE(testing::Message() << shape[0] << "x" << shape[1] << "x" << shape[2]);
    arg(round % 2 == 0 ? "ArgMax" : "ArgMin", static_cast<int>(random() % 3), static_cast<int>(random() % 2))
        .input(random_tensor(shape, -9, 9, static_cast<std::uint32_t>(round)))
        .check(kTactic);
  }
}

TEST(ArgMaxKernel, NanIsTheExtreme) {
  Tensor tensor = random_tensor({40, 40}, -1, 1, 1);
  for (const std::size_t at : {5U, 39U, 1000U, 1001U, 1599U})
    tensor.data<float>()[at] = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"ArgMax", "ArgMin"})
    for (const std::int64_t axis : {0, 1})
      for (const std::int64_t last : {0, 1}) arg(op, axis, last).input(tensor).check(kTactic);
}

TEST(ArgMaxKernel, TakesLinesOfOneAndScalars) {
  arg("ArgMax", 1, 0).input({3, 1, 5}).check(kTactic);
  arg("ArgMax", 0, 0).attribute("keepdims", std::int64_t{0}).input({2}).check(kTactic);
}

TEST(ArgMaxKernel, RefusesIntegers) {
  const Support support = OpCase("ArgMax").input(random_integers(DType::kInt64, {4}, 0, 9, 1)).supports(kTactic);
  EXPECT_NE(support.reason.find("float32"), std::string::npos);
}

}  // namespace
}  // namespace saccade
