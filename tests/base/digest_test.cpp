#include "base/digest.hpp"

#include <gtest/gtest.h>

#include <set>

namespace saccade {
namespace {

TEST(Digest, DetectsEveryFlippedBit) {
  const std::string text = "not a multiple of eight bytes";
  std::set<std::string> seen = {digest(text)};
  for (std::size_t i = 0; i < 8 * text.size(); ++i) {
    std::string flipped = text;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
    EXPECT_TRUE(seen.insert(digest(flipped)).second) << i;
  }
  EXPECT_EQ(digest(text).size(), 32U);
  EXPECT_EQ(digest(text), digest(text));
}

/// XXH3-128 with seed 0, as `xxhsum -H2` prints it: the format of plan files depends on it.
TEST(Digest, IsXxh3) {
  EXPECT_EQ(digest(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digest("saccade"), "4bf74962036d717d781e3e01f2e2623f");
}

TEST(Digest, IsTheSameInParts) {
  std::string bytes(10'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i);
  for (const std::size_t part : {1U, 63U, 256U, 4096U, 10'000U}) {
    Digest parts;
    EXPECT_EQ(parts.text(), digest(""));
    for (std::size_t at = 0; at < bytes.size(); at += part) parts.update(std::string_view(bytes).substr(at, part));
    EXPECT_EQ(parts.text(), digest(bytes)) << part;
  }
}

TEST(Digest, CountsZerosAtTheEnd) {
  EXPECT_NE(digest(""), digest(std::string(1, '\0')));
  EXPECT_NE(digest(std::string(8, '\0')), digest(std::string(16, '\0')));
}

}  // namespace
}  // namespace saccade
