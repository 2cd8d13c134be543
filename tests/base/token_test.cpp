#include "base/token.hpp"

#include <gtest/gtest.h>

#include <string>

namespace saccade {
namespace {

TEST(Token, OnlyTheWholeSecretIsEqual) {
  const std::string secret = "0123456789abcdef";
  EXPECT_TRUE(equals_secret(secret, secret));
  EXPECT_FALSE(equals_secret("", secret));
  EXPECT_FALSE(equals_secret(secret + "0", secret));
  EXPECT_FALSE(equals_secret(secret.substr(1), secret));
  for (std::size_t i = 0; i < secret.size(); ++i) {
    std::string wrong = secret;
    wrong[i] ^= 1;
    EXPECT_FALSE(equals_secret(wrong, secret)) << i;
  }
}

TEST(Token, TheSchemeIsBearer) {
  EXPECT_TRUE(bears_token("Bearer abc", "abc"));
  for (const char* wrong : {"", "abc", "Bearer", "Bearer ", "bearer abc", "Bearer  abc", "Bearer abcd", "Basic abc"})
    EXPECT_FALSE(bears_token(wrong, "abc")) << wrong;
}

}  // namespace
}  // namespace saccade
