#include "op_case/op_case.hpp"

namespace saccade {
namespace {

constexpr On kTactic = on_cpu("vector.move");
using Integers = std::vector<std::int64_t>;

Tensor list(const Integers& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Move, TransposesAnyOrder) {
  for (const Integers& order : {Integers{0, 2, 3, 1}, Integers{0, 3, 1, 2}, Integers{3, 2, 1, 0}, Integers{1, 0, 2, 3}})
    OpCase("Transpose").input({2, 9, 13, 21}).attribute("perm", order).check_layouts(kTactic, kExact);
  OpCase("Transpose").input({130, 70}).check(kTactic, kExact);
}

TEST(Move, TransposesElementsOfEverySize) {
  for (DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kBool})
    OpCase("Transpose")
        .input(random_integers(dtype, {3, 20, 33}, 0, 1, 7))
        .attribute("perm", Integers{0, 2, 1})
        .check(kTactic, kExact);
}

TEST(Move, ReordersBothWays) {
  OpCase("Reorder", "saccade").input({2, 37, 9, 11}).output_layout(Layout::kChannelsLast).check(kTactic);
  OpCase("Reorder", "saccade")
      .input({2, 37, 9, 11})
      .output_layout(Layout::kRowMajor)
      .check(kTactic, {}, Layout::kChannelsLast);
  OpCase("Reorder", "saccade").input({1, 3, 160, 160}).output_layout(Layout::kChannelsLast).check(kTactic);
}

TEST(Move, ConcatenatesAlongEveryAxis) {
  for (int axis = 0; axis < 4; ++axis) {
    Shape a{2, 3, 4, 5};
    Shape b = a;
    b[axis] = 7;
    OpCase("Concat").input(a).input(b).input(a).attribute("axis", std::int64_t{axis}).check_layouts(kTactic, kExact);
  }
  OpCase("Concat").input({2, 3, 4}).input({2, 0, 4}).attribute("axis", std::int64_t{-2}).check(kTactic);
}

TEST(Move, ConcatenatesTensorsOfDifferentLayouts) {
  OpCase("Concat")
      .input({1, 8, 6, 5})
      .input({1, 3, 6, 5})
      .attribute("axis", std::int64_t{1})
      .input_layout(1, Layout::kChannelsLast)
      .check(kTactic, kExact);
}

TEST(Move, Splits) {
  OpCase("Split")
      .input({2, 7, 4, 5})
      .constant(list({3, 0, 4}))
      .attribute("axis", std::int64_t{1})
      .outputs(3)
      .check_layouts(kTactic, kExact);
}

TEST(Move, SlicesWithStepsBothWays) {
  OpCase("Slice")
      .input({2, 9, 8, 7})
      .constant(list({1, -1}))
      .constant(list({9, -100}))
      .constant(list({1, -1}))
      .constant(list({2, -2}))
      .check_layouts(kTactic, kExact);
}

TEST(Move, SlicesToNothing) {
  OpCase("Slice").input({2, 9}).constant(list({5})).constant(list({5})).constant(list({1})).check(kTactic);
}

TEST(Move, ExpandsAndTiles) {
  OpCase("Expand").input({3, 1, 5}).constant(list({2, 1, 4, 1})).check(kTactic);
  OpCase("Expand").input({2, 1, 5, 1}).constant(list({2, 6, 5, 3})).check_layouts(kTactic, kExact);
  OpCase("Tile").input({2, 3, 4}).constant(list({2, 1, 3})).check_layouts(kTactic, kExact);
}

TEST(Move, PadsWithAConstant) {
  OpCase("Pad")
      .input({1, 3, 5, 4})
      .constant(list({0, 1, 2, 3, 0, 0, 1, 2}))
      .constant(Tensor::scalar(7.5F))
      .check_layouts(kTactic, kExact);
  OpCase("Pad").input({1, 3, 5}).constant(list({1, 2})).absent().constant(list({-1})).check(kTactic);
}

TEST(Move, LeavesOtherPadsToTheReference) {
  EXPECT_FALSE(
      OpCase("Pad").input({1, 3, 5}).constant(list({0, 0, 1, 0, 0, 1})).attribute("mode", "reflect").supports(kTactic));
}

TEST(Move, ReshapesChannelsLastTensors) {
  OpCase("Reshape")
      .input({2, 6, 4, 5})
      .constant(list({2, 3, -1}))
      .output_layout(Layout::kRowMajor)
      .check(kTactic, kExact, Layout::kChannelsLast);
  OpCase("Reshape")
      .input({2, 6, 20})
      .constant(list({2, 6, 4, 5}))
      .output_layout(Layout::kChannelsLast)
      .check(kTactic, kExact);
}

TEST(Move, ReshapesBetweenChannelsLastTensorsOfTheSameChannels) {
  OpCase("Reshape").input({2, 6, 4, 5}).constant(list({2, 6, 20})).check(kTactic, kExact, Layout::kChannelsLast);
}

TEST(Move, DepthToSpaceInBothModes) {
  for (const char* mode : {"DCR", "CRD"})
    OpCase("DepthToSpace")
        .input({2, 12, 3, 5})
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", mode)
        .check_layouts(kTactic, kExact);
}

TEST(Move, SpaceToDepth) {
  for (const char* mode : {"DCR", "CRD"})
    OpCase("SpaceToDepth")
        .input({2, 3, 4, 6})
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", mode)
        .check_layouts(kTactic, kExact);
}

TEST(Move, RunsPostOps) {
  OpCase("Concat").input({2, 3, 4}).input({2, 2, 4}).attribute("axis", std::int64_t{1}).post("Relu").check(kTactic);
}

}  // namespace
}  // namespace saccade
