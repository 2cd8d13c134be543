#include <limits>

#include "ops/op_values.hpp"

namespace saccade {
namespace {

TEST(DepthToSpace, SpreadsChannelsOverBlocks) {
  const Tensor x = counting({1, 8, 1, 1});
  const auto spread = [&](const char* mode) {
    return run("DepthToSpace", {x}, {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}});
  };
  expect_tensor<std::int32_t>(spread("DCR"), {1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7});
  expect_tensor<std::int32_t>(spread("CRD"), {1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
}

TEST(DepthToSpace, KeepsPositionsTogether) {
  const Tensor x = counting({1, 4, 1, 2});  // channels 01 23 45 67
  expect_tensor<std::int32_t>(run("DepthToSpace", {x}, {{"blocksize", std::int64_t{2}}}), {1, 1, 2, 4},
                              {0, 2, 1, 3, 4, 6, 5, 7});
}

TEST(SpaceToDepth, IsTheInverse) {
  const Tensor x = counting({2, 8, 3, 2});
  const Named block{{"blocksize", std::int64_t{2}}};
  const Tensor back = run("SpaceToDepth", {run("DepthToSpace", {x}, block)}, block);
  expect_tensor<std::int32_t>(back, {2, 8, 3, 2}, {x.data<std::int32_t>().begin(), x.data<std::int32_t>().end()});
  expect_tensor<std::int32_t>(run("SpaceToDepth", {counting({1, 1, 2, 4})}, block), {1, 4, 1, 2},
                              {0, 2, 1, 3, 4, 6, 5, 7});
}

TEST(SpaceToDepth, OrdersChannelsAsDepthToSpaceDoes) {
  const Tensor x = counting({1, 2, 2, 2});  // channel 0: 0 1 / 2 3, channel 1: 4 5 / 6 7
  const auto gather = [&](const char* mode) {
    return run("SpaceToDepth", {x}, {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}});
  };
  expect_tensor<std::int32_t>(gather("DCR"), {1, 8, 1, 1}, {0, 4, 1, 5, 2, 6, 3, 7});
  expect_tensor<std::int32_t>(gather("CRD"), {1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(error_of("SpaceToDepth", {x}, {{"blocksize", std::int64_t{2}}, {"mode", std::string("RCD")}}),
            ErrorCode::kInvalidFile);
}

TEST(DepthToSpace, RejectsWhatDoesNotDivide) {
  const Named two{{"blocksize", std::int64_t{2}}};
  EXPECT_EQ(error_of("DepthToSpace", {counting({1, 6, 1, 1})}, two), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("SpaceToDepth", {counting({1, 1, 3, 2})}, two), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("DepthToSpace", {counting({4})}, two), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("SpaceToDepth", {counting({1, 1, 2, 2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("DepthToSpace", {counting({1, 4, 1, 1})}, {{"blocksize", std::int64_t{1} << 40}}),
            ErrorCode::kUnsupported);
}

TEST(Trilu, KeepsATriangle) {
  const Tensor x = counting({2, 3});  // 0 1 2 / 3 4 5
  const auto trilu = [&](std::int64_t upper, std::int64_t k) {
    return run("Trilu", {x, Tensor::scalar(k)}, {{"upper", upper}});
  };
  expect_tensor<std::int32_t>(run("Trilu", {x}), {2, 3}, {0, 1, 2, 0, 4, 5});
  expect_tensor<std::int32_t>(trilu(1, 1), {2, 3}, {0, 1, 2, 0, 0, 5});
  expect_tensor<std::int32_t>(trilu(1, -1), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_tensor<std::int32_t>(trilu(0, 0), {2, 3}, {0, 0, 0, 3, 4, 0});
  expect_tensor<std::int32_t>(trilu(0, -1), {2, 3}, {0, 0, 0, 3, 0, 0});
  expect_tensor<std::int32_t>(trilu(0, std::numeric_limits<std::int64_t>::max()), {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_tensor<std::int32_t>(trilu(0, std::numeric_limits<std::int64_t>::min()), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_tensor<std::int32_t>(run("Trilu", {counting({2, 2, 2})}), {2, 2, 2}, {0, 1, 0, 3, 4, 5, 0, 7});
  EXPECT_EQ(error_of("Trilu", {counting({3})}), ErrorCode::kInvalidFile);
}

TEST(ReverseSequence, TurnsEachSequencesStart) {
  const Tensor x = counting({3, 2});  // time by sequence
  expect_tensor<std::int32_t>(run("ReverseSequence", {x, indices({3, 2})}), {3, 2}, {4, 3, 2, 1, 0, 5});
  const Named batch_first{{"time_axis", std::int64_t{1}}, {"batch_axis", std::int64_t{0}}};
  expect_tensor<std::int32_t>(run("ReverseSequence", {x, indices({2, 1, 0})}, batch_first), {3, 2}, {1, 0, 2, 3, 4, 5});
  EXPECT_EQ(error_of("ReverseSequence", {x, indices({4, 1})}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of("ReverseSequence", {x, indices({1})}), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
