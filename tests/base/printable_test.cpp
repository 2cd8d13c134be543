#include "base/printable.hpp"

#include <gtest/gtest.h>

#include "base/log.hpp"
#include "base/report_text.hpp"

namespace saccade {
namespace {

TEST(Printable, WritesOutWhatSteersATerminal) {
  EXPECT_EQ(printable("Füße 人 \U0001F600 \"a\\b\""), "Füße 人 \U0001F600 \"a\\b\"");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable(std::string_view("\x1b[31mred\a\b\0\x7f", 12)), "\\x1b[31mred\\x07\\x08\\x00\\x7f");
  EXPECT_EQ(printable("\u009b31m \u0080 \u009f \u00a0"), "\\u009b31m \\u0080 \\u009f \u00a0") << "C1";
  EXPECT_EQ(printable("\u202efdp.exe\u202c \u2066x\u2069 \u200f\u061c"),
            "\\u202efdp.exe\\u202c \\u2066x\\u2069 \\u200f\\u061c")
      << "direction";
  EXPECT_EQ(printable("\u2028\u2029"), "\\u2028\\u2029") << "ends of lines";
}

TEST(Printable, WritesOutBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff\x9b"), "a\\xff\\x9b");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "overlong";
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80") << "cut short";
}

TEST(Printable, LinesKeepTheirEnds) { EXPECT_EQ(printable_lines("a\tb\nc\x1b[2J\r\n"), "a\tb\nc\\x1b[2J\\r\n"); }

TEST(Printable, JsonStaysTheSameToItsReaders) {
  EXPECT_EQ(printable_json("{\"a\": \"b\"}\n"), "{\"a\": \"b\"}\n");
  EXPECT_EQ(printable_json("[\"\u009b\x7f\u202e\"]"), "[\"\\u009b\\u007f\\u202e\"]");
  EXPECT_EQ(printable_json("[\"\xff\"]"), "[\"\\ufffd\"]");
}

TEST(ReportText, NamesCanNotEndTheirLine) {
  const std::string name = "x\nverdict: holds\x1b[8m";
  ReportText text("model {}\n", name);
  text.add("{:<8}|{:>6.2f}\n", "a\n", 1.5).add("{}", report_text("inner {}\n", std::string_view("\u202e")));
  text += "end\n";
  EXPECT_EQ(text.str(), "model x\\nverdict: holds\\x1b[8m\na\\n     |  1.50\ninner \\u202e\nend\n");
}

TEST(Log, IsOneLineWhateverItNames) {
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "node '{}' fails", "a\nsaccade: error: forged\x1b]0;title\a");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "saccade: error: node 'a\\nsaccade: error: forged\\x1b]0;title\\x07' fails\n");
}

}  // namespace
}  // namespace saccade
