#include "base/percent_decoded.hpp"

#include <gtest/gtest.h>

namespace saccade {
namespace {

TEST(PercentDecoded, ReplacesEscapes) {
  EXPECT_EQ(percent_decoded(""), "");
  EXPECT_EQ(percent_decoded("plain+text"), "plain+text");
  EXPECT_EQ(percent_decoded("a%20b%2Fc%2fd"), "a b/c/d");
  EXPECT_EQ(percent_decoded("%25%41"), "%A");
  EXPECT_EQ(percent_decoded("%c3%a9"), "\xc3\xa9");
}

TEST(PercentDecoded, RefusesWhatIsNoEscape) {
  for (const char* text : {"%", "a%4", "%zz", "%4z", "100%", "%-1", "%+1", "% 1", "a%00b"})
    EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

}  // namespace
}  // namespace saccade
