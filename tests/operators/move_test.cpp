#include "op_case/every_backend.hpp"

namespace saccade {
namespace {

constexpr Tactics kMove{.cpu = "vector.move", .cuda = "moves"};

using Integers = std::vector<std::int64_t>;

Tensor list(const Integers& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}

SACCADE_EVERY_BACKEND(Moves);

TEST_P(Moves, TransposesAnyOrder) {
  for (const Integers& order : {Integers{0, 2, 3, 1}, Integers{0, 3, 1, 2}, Integers{3, 2, 1, 0}, Integers{1, 0, 2, 3}})
    OpCase("Transpose").input({2, 9, 13, 21}).attribute("perm", order).check_layouts(by(kMove), kExact);
  OpCase("Transpose").input({130, 70}).check(by(kMove), kExact);
}

TEST_P(Moves, TransposesImagesOfThreeChannels) {
  for (const std::int64_t width : {1, 7, 16, 67})
    for (const DType dtype : {DType::kFloat32, DType::kInt32}) {
      OpCase("Transpose")
          .input(dtype, {2, 3, 5, width})
          .attribute("perm", Integers{0, 2, 3, 1})
          .check(by(kMove), kExact);
      OpCase("Transpose")
          .input(dtype, {2, 5, width, 3})
          .attribute("perm", Integers{0, 3, 1, 2})
          .check(by(kMove), kExact);
    }
  // Three of several rows.
  OpCase("Transpose").input({2, 5, 3, 67}).attribute("perm", Integers{0, 1, 3, 2}).check(by(kMove), kExact);
}

TEST_P(Moves, TransposesElementsOfEverySize) {
  for (DType dtype : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kBool})
    OpCase("Transpose")
        .input(random_integers(dtype, {3, 20, 33}, 0, 1, 7))
        .attribute("perm", Integers{0, 2, 1})
        .check(by(kMove), kExact);
}

/// Blocks of whole vectors, their remainders, and parts of several blocks.
TEST_P(Moves, TransposesHalvesInBlocks) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{8, 8},
                                      {7, 4},
                                      {9, 5},
                                      {2, 100},
                                      {63, 129},
                                      {16, 1000},
                                      {1000, 16},
                                      {515, 12}})
    for (const DType dtype : {DType::kInt16, DType::kInt32})
      OpCase("Transpose")
          .input(random_integers(dtype, {2, rows, columns}, -30000, 30000, 5))
          .attribute("perm", Integers{0, 2, 1})
          .check(by(kMove), kExact);
}

TEST_P(Moves, ReordersBothWays) {
  OpCase("Reorder", "saccade").input({2, 37, 9, 11}).output_layout(Layout::kChannelsLast).check(by(kMove));
  OpCase("Reorder", "saccade")
      .input({2, 37, 9, 11})
      .output_layout(Layout::kRowMajor)
      .check(by(kMove), {}, Layout::kChannelsLast);
  OpCase("Reorder", "saccade").input({1, 3, 160, 160}).output_layout(Layout::kChannelsLast).check(by(kMove));
}

TEST_P(Moves, ConcatenatesAlongEveryAxis) {
  for (int axis = 0; axis < 4; ++axis) {
    Shape a{2, 3, 4, 5};
    Shape b = a;
    b[axis] = 7;
    OpCase("Concat").input(a).input(b).input(a).attribute("axis", std::int64_t{axis}).check_layouts(by(kMove), kExact);
  }
  OpCase("Concat").input({2, 3, 4}).input({2, 0, 4}).attribute("axis", std::int64_t{-2}).check(by(kMove));
}

TEST_P(Moves, ConcatenatesTensorsOfDifferentLayouts) {
  OpCase("Concat")
      .input({1, 8, 6, 5})
      .input({1, 3, 6, 5})
      .attribute("axis", std::int64_t{1})
      .input_layout(1, Layout::kChannelsLast)
      .check(by(kMove), kExact);
}

TEST_P(Moves, Splits) {
  OpCase("Split")
      .input({2, 7, 4, 5})
      .constant(list({3, 0, 4}))
      .attribute("axis", std::int64_t{1})
      .outputs(3)
      .check_layouts(by(kMove), kExact);
}

TEST_P(Moves, SlicesWithStepsBothWays) {
  OpCase("Slice")
      .input({2, 9, 8, 7})
      .constant(list({1, -1}))
      .constant(list({9, -100}))
      .constant(list({1, -1}))
      .constant(list({2, -2}))
      .check_layouts(by(kMove), kExact);
}

TEST_P(Moves, SlicesToNothing) {
  OpCase("Slice").input({2, 9}).constant(list({5})).constant(list({5})).constant(list({1})).check(by(kMove));
}

TEST_P(Moves, ExpandsAndTiles) {
  OpCase("Expand").input({3, 1, 5}).constant(list({2, 1, 4, 1})).check(by(kMove));
  OpCase("Expand").input({2, 1, 5, 1}).constant(list({2, 6, 5, 3})).check_layouts(by(kMove), kExact);
  OpCase("Tile").input({2, 3, 4}).constant(list({2, 1, 3})).check_layouts(by(kMove), kExact);
}

TEST_P(Moves, PadsWithAConstant) {
  OpCase("Pad")
      .input({1, 3, 5, 4})
      .constant(list({0, 1, 2, 3, 0, 0, 1, 2}))
      .constant(Tensor::scalar(7.5F))
      .check_layouts(by(kMove), kExact);
  OpCase("Pad").input({1, 3, 5}).constant(list({1, 2})).absent().constant(list({-1})).check(by(kMove));
}

TEST_P(Moves, ReshapesChannelsLastTensors) {
  OpCase("Reshape")
      .input({2, 6, 4, 5})
      .constant(list({2, 3, -1}))
      .output_layout(Layout::kRowMajor)
      .check(by(kMove), kExact, Layout::kChannelsLast);
  OpCase("Reshape")
      .input({2, 6, 20})
      .constant(list({2, 6, 4, 5}))
      .output_layout(Layout::kChannelsLast)
      .check(by(kMove), kExact);
}

TEST_P(Moves, ReshapesBetweenChannelsLastTensorsOfTheSameChannels) {
  OpCase("Reshape").input({2, 6, 4, 5}).constant(list({2, 6, 20})).check(by(kMove), kExact, Layout::kChannelsLast);
}

TEST_P(Moves, DepthToSpaceInBothModes) {
  for (const char* mode : {"DCR", "CRD"})
    OpCase("DepthToSpace")
        .input({2, 12, 3, 5})
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", mode)
        .check_layouts(by(kMove), kExact);
}

TEST_P(Moves, SpaceToDepth) {
  for (const char* mode : {"DCR", "CRD"})
    OpCase("SpaceToDepth")
        .input({2, 3, 4, 6})
        .attribute("blocksize", std::int64_t{2})
        .attribute("mode", mode)
        .check_layouts(by(kMove), kExact);
}

TEST_P(Moves, RunsPostOps) {
  OpCase("Concat").input({2, 3, 4}).input({2, 2, 4}).attribute("axis", std::int64_t{1}).post("Relu").check(by(kMove));
}

TEST_P(Moves, TakeElementsFromWhereTheReferenceDoes) {
  OpCase("Transpose")
      .input({2, 3, 4, 5})
      .attribute("perm", std::vector<std::int64_t>{0, 2, 3, 1})
      .check_layouts(by("", "moves"));
  OpCase("Concat").input({2, 3, 4}).input({2, 5, 4}).attribute("axis", std::int64_t{1}).check_layouts(by("", "moves"));
  OpCase("Slice")
      .input({4, 9})
      .constant(Tensor::of<std::int64_t>({2}, {-1, 1}))
      .constant(Tensor::of<std::int64_t>({2}, {-9, 8}))
      .constant(Tensor::of<std::int64_t>({2}, {0, 1}))
      .constant(Tensor::of<std::int64_t>({2}, {-2, 3}))
      .check(by("", "moves"));
  OpCase("Split")
      .input({2, 6, 3, 3})
      .constant(Tensor::of<std::int64_t>({2}, {2, 4}))
      .attribute("axis", std::int64_t{1})
      .outputs(2)
      .check_layouts(by("", "moves"));
  OpCase("Pad")
      .input({1, 2, 3, 3})
      .constant(Tensor::of<std::int64_t>({8}, {0, 0, 1, 2, 0, 1, 0, -1}))
      .constant(Tensor::of<float>({}, {7}))
      .check_layouts(by("", "moves"));
  OpCase("Pad")
      .input({5})
      .constant(Tensor::of<std::int64_t>({2}, {2, 3}))
      .attribute("mode", std::string("reflect"))
      .check(by("", "moves"));
  OpCase("Expand").input({3, 1}).constant(Tensor::of<std::int64_t>({3}, {2, 3, 4})).check(by("", "moves"));
  OpCase("Tile").input({2, 3}).constant(Tensor::of<std::int64_t>({2}, {2, 2})).check(by("", "moves"));
  OpCase("Gather").input({5, 4}).constant(Tensor::of<std::int64_t>({3}, {4, -5, 1})).check(by("", "moves"));
  OpCase("DepthToSpace").input({1, 8, 2, 3}).attribute("blocksize", std::int64_t{2}).check_layouts(by("", "moves"));
  OpCase("Trilu").input(DType::kInt64, {4, 4}).check(by("", "moves"));
  OpCase("Transpose").input(DType::kFloat16, {7, 5}).check(by("", "moves"));
}

}  // namespace
}  // namespace saccade
