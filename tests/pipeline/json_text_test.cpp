#include "pipeline/sinks/json_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace saccade {
namespace {

std::string quoted(std::string_view text) {
  JsonBuffer out;
  append_json_string(out, text);
  return fmt::to_string(out);
}

template <typename T>
std::string number(T value) {
  JsonBuffer out;
  append_json_number(out, value);
  return fmt::to_string(out);
}

TEST(JsonText, EscapesWhatJsonForbids) {
  EXPECT_EQ(quoted("plain"), R"("plain")");
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("line\nend\x01"), R"("line\u000aend\u0001")");
  EXPECT_EQ(quoted("Füße 人"), R"("Füße 人")");
}

TEST(JsonText, EscapesWhatSteersATerminal) {
  EXPECT_EQ(quoted(std::string_view("\0\x7f", 2)), R"("\u0000\u007f")");
  EXPECT_EQ(quoted("\u009b\u202e\u2028"), R"("\u009b\u202e\u2028")");
}

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(quoted("a\xFF"), R"("a\ufffd")");
  EXPECT_EQ(quoted("\xC3"), R"("\ufffd")");                      // truncated
  EXPECT_EQ(quoted("\xC0\xAF"), R"("\ufffd\ufffd")");            // overlong
  EXPECT_EQ(quoted("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")");  // half a surrogate
}

TEST(JsonText, NumbersReadBackAsTheSame) {
  EXPECT_EQ(number(0.9F), "0.9");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(1.0F), "1");
  EXPECT_EQ(number(std::numeric_limits<float>::infinity()), "null");
  EXPECT_EQ(number(std::numeric_limits<float>::quiet_NaN()), "null");
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
}

}  // namespace
}  // namespace saccade
