#include "metrics/edit_distance.hpp"

#include <gtest/gtest.h>

namespace saccade {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3U);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("AB 123", "AB 123"), 0U);
}

TEST(EditDistance, CountsCharactersNotBytes) {
  EXPECT_EQ(edit_distance("\u4f60\u597d", "\u4f60"), 1U);
  EXPECT_EQ(edit_distance("\u00e9", "e"), 1U);
  EXPECT_EQ(edit_distance("a\xff", "a\xfe"), 1U);
  EXPECT_EQ(edit_distance("\xe9", "\u00e9"), 1U) << "a malformed byte is no character";
}

}  // namespace
}  // namespace saccade
