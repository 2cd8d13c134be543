
#include "ops/op_values.hpp"
#include "support/specials.hpp"

namespace saccade {
namespace {

std::vector<Tensor> unique(const Tensor& x, Named attributes = {}) {
  return OpCall{.op = "Unique", .inputs = {x}, .attributes = std::move(attributes), .outputs = 4}.run();
}

TEST(Unique, SortsValues) {
  const auto got = unique(Tensor::of<float>({2, 3}, {2, 1, 1, 3, 4, 3}));
  expect_tensor<float>(got[0], {4}, {1, 2, 3, 4});
  expect_tensor<std::int64_t>(got[1], {4}, {1, 0, 3, 4});
  expect_tensor<std::int64_t>(got[2], {6}, {1, 0, 0, 2, 3, 2});
  expect_tensor<std::int64_t>(got[3], {4}, {2, 1, 2, 1});
}

TEST(Unique, OrKeepsTheirOrder) {
  const auto got = unique(Tensor::of<std::int64_t>({6}, {2, 1, 1, 3, 4, 3}), {{"sorted", std::int64_t{0}}});
  expect_tensor<std::int64_t>(got[0], {4}, {2, 1, 3, 4});
  expect_tensor<std::int64_t>(got[1], {4}, {0, 1, 3, 4});
  expect_tensor<std::int64_t>(got[2], {6}, {0, 1, 1, 2, 3, 2});
  expect_tensor<std::int64_t>(got[3], {4}, {1, 2, 2, 1});
}

TEST(Unique, ComparesSlices) {
  const Tensor rows = Tensor::of<std::int32_t>({3, 2}, {2, 0, 1, 5, 2, 0});
  const auto by_row = unique(rows, {{"axis", std::int64_t{0}}});
  expect_tensor<std::int32_t>(by_row[0], {2, 2}, {1, 5, 2, 0});
  expect_tensor<std::int64_t>(by_row[2], {3}, {1, 0, 1});
  const Tensor columns = Tensor::of<std::int32_t>({2, 3}, {7, 1, 7, 8, 2, 8});
  const auto by_column = unique(columns, {{"axis", std::int64_t{-1}}});
  expect_tensor<std::int32_t>(by_column[0], {2, 2}, {1, 7, 2, 8});
  expect_tensor<std::int64_t>(by_column[1], {2}, {1, 0});
  expect_tensor<std::int64_t>(by_column[3], {2}, {1, 2});
}

TEST(Unique, TakesOddValues) {
  expect_tensor<float>(unique(Tensor::of<float>({4}, {kNan, 1, kNan, -1}))[0], {3}, {-1, 1, kNan});
  Tensor bools = Tensor::of<bool>({3}, {true, false, true});
  bools.raw()[2] = std::byte{2};  // true as well
  expect_tensor<bool>(unique(bools)[0], {2}, {false, true});
  const auto words = unique(strings({"b", "a", "b"}));
  EXPECT_EQ(words[0].strings()[1], "b");
  expect_tensor<std::int64_t>(words[3], {2}, {1, 2});
  expect_tensor<float>(unique(Tensor::of<float>({0}, {}))[0], {0}, {});
}

TEST(Unique, NeedsItsInputAtBuildTime) {
  const OpCall unknown{.op = "Unique", .inputs = {counting({3})}, .constant = false};
  const auto error = unknown.error();
  EXPECT_EQ(error.first, ErrorCode::kUnsupported);
  EXPECT_NE(error.second.find("depends on the data"), std::string::npos) << error.second;
  EXPECT_EQ(error_of("Unique", {counting({3})}, {{"axis", std::int64_t{1}}}), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
