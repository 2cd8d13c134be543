#include "ops/op_values.hpp"

namespace saccade {
namespace {

Tensor bools(std::initializer_list<bool> values) {
  return Tensor::of<bool>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Compress, TakesSlicesAlongAnAxis) {
  const Tensor x = counting({3, 2});
  expect_tensor<std::int32_t>(run("Compress", {x, bools({false, true, true})}, {{"axis", std::int64_t{0}}}), {2, 2},
                              {2, 3, 4, 5});
  expect_tensor<std::int32_t>(run("Compress", {x, bools({false, true})}, {{"axis", std::int64_t{-1}}}), {3, 1},
                              {1, 3, 5});
}

TEST(Compress, WithoutAnAxisTakesElements) {
  expect_tensor<std::int32_t>(run("Compress", {counting({2, 3}), bools({false, true, false, false, true})}), {2},
                              {1, 4});
}

TEST(Compress, ConditionsMayBeFewerOrMoreThanSlices) {
  const Named rows{{"axis", std::int64_t{0}}};
  expect_tensor<std::int32_t>(run("Compress", {counting({3, 1}), bools({true})}, rows), {1, 1}, {0});
  expect_tensor<std::int32_t>(run("Compress", {counting({1, 2}), bools({true, true})}, rows), {1, 2}, {0, 1});
  expect_tensor<std::int32_t>(run("Compress", {counting({2}), bools({})}), {0}, {});
}

TEST(Compress, MovesAnyType) {
  EXPECT_EQ(run("Compress", {strings({"a", "b"}), bools({false, true})}).strings()[0], "b");
}

TEST(Compress, NeedsItsConditionAtBuildTime) {
  const OpCall unknown{.op = "Compress", .inputs = {counting({1}), bools({true})}, .constant = false};
  const auto error = unknown.error();
  EXPECT_EQ(error.first, ErrorCode::kUnsupported);
  EXPECT_NE(error.second.find("must be a constant"), std::string::npos) << error.second;
  EXPECT_EQ(error_of("Compress", {counting({2}), counting({2})}), ErrorCode::kInvalidFile);
  EXPECT_EQ(error_of("Compress", {counting({2}), bools({true})}, {{"axis", std::int64_t{1}}}), ErrorCode::kInvalidFile);
}

}  // namespace
}  // namespace saccade
