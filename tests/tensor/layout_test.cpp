#include <gtest/gtest.h>

#include "tensor/view.hpp"

namespace saccade {
namespace {

constexpr Layout kRows = Layout::kRowMajor;
constexpr Layout kLast = Layout::kChannelsLast;

TEST(LiesAlike, HoldsForRowMajorUnderAnyShape) { EXPECT_TRUE(lies_alike({2, 3, 4}, kRows, {6, 4}, kRows)); }

TEST(LiesAlike, HoldsWhereChannelsLastMovesNothing) {
  EXPECT_TRUE(lies_alike({1, 8, 1, 1}, kLast, {1, 8}, kRows)) << "one pixel";
  EXPECT_TRUE(lies_alike({2, 1, 4, 4}, kRows, {2, 1, 4, 4}, kLast)) << "one channel";
  EXPECT_TRUE(lies_alike({1, 3, 4, 4}, kLast, {1, 3, 16}, kLast)) << "pixels in one row";
}

TEST(LiesAlike, FailsWhereElementsMove) {
  EXPECT_FALSE(lies_alike({1, 3, 4, 4}, kLast, {1, 3, 4, 4}, kRows));
  EXPECT_FALSE(lies_alike({1, 4, 4, 1}, kLast, {1, 2, 8, 1}, kLast)) << "the channels change";
  EXPECT_FALSE(lies_alike({2, 3, 4}, kLast, {1, 3, 8}, kLast)) << "the batch changes";
}

}  // namespace
}  // namespace saccade
