#include "measure/report/terminal_histogram.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/utf8.hpp"
#include "measure/report/table.hpp"
#include "measure/times.hpp"

namespace saccade {
namespace {

using test::ms;

/// 30, 60 and 15 samples; the density is level with the first bar.
LatencyShape shape() {
  return {.bins = {{ms(1), ms(2), 30}, {ms(2), ms(3), 60}, {ms(3), ms(4), 14.5}},
          .density = {{ms(1.5), 30}, {ms(2.5), 30}, {ms(3.5), 30}},
          .samples = 106,
          .beyond = 1,
          .longest = ms(70)};
}

std::string bars(const char* block, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += block;
  return text;
}

TEST(TerminalHistogram, DrawsBlocksOnAUnicodeTerminal) {
  const std::string spaces(60, ' ');
  EXPECT_EQ(terminal_histogram(shape(), true).str(),
            "      1.00 │" + bars("█", 30) + spaces.substr(30) + "      30\n" +  //
                "      2.00 │" + bars("█", 60) + "      60\n" +                  //
                "      3.00 │" + bars("█", 14) + "▌" + spaces.substr(15, 14) + "·" + spaces.substr(30) + "      14\n" +
                " from (ms)  106 samples, · the density; 1 beyond, up to 70 ms\n");
}

TEST(TerminalHistogram, DrawsAsciiElsewhere) {
  const std::string text = terminal_histogram(shape(), false).str();
  EXPECT_EQ(text, "      1.00 |" + bars("#", 30) + std::string(30, ' ') + "      30\n" + "      2.00 |" +
                      bars("#", 60) + "      60\n" + "      3.00 |" + bars("#", 15) + std::string(14, ' ') + "." +
                      std::string(30, ' ') + "      14\n" +
                      " from (ms)  106 samples, . the density; 1 beyond, up to 70 ms\n");
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST(TerminalHistogram, IsEightyColumnsWide) {
  const std::string text = terminal_histogram(shape(), true).str();
  for (std::size_t at = 0, line = 0; line < 3; ++line) {
    const std::size_t end = text.find('\n', at);
    EXPECT_EQ(utf8_count(text.substr(at, end - at)), 80U);
    at = end + 1;
  }
  EXPECT_EQ(terminal_histogram({}, true).str(), "no samples\n");
}

TEST(TerminalHistogram, FollowsTheLocale) {
  setenv("LC_ALL", "", 1);
  setenv("LC_CTYPE", "de_DE.utf8", 1);
  setenv("LANG", "C", 1);
  EXPECT_TRUE(locale_is_utf8());
  setenv("LC_ALL", "POSIX", 1);
  EXPECT_FALSE(locale_is_utf8());
  unsetenv("LC_ALL");
  unsetenv("LC_CTYPE");
  EXPECT_FALSE(locale_is_utf8());
  setenv("LANG", "en_US.UTF-8", 1);
  EXPECT_TRUE(locale_is_utf8());
}

TEST(TextTable, AlignsByCodePoints) {
  const Table table{.caption = "left out",
                    .columns = {{"what"}, {"time", true}},
                    .rows = {{"a", "12 µs"}, {"longer", "9 ms"}, {"b"}}};
  EXPECT_EQ(to_text(table).str(), "what     time\na       12 µs\nlonger   9 ms\nb\n");
  EXPECT_EQ(line_width(table), 13U);
}

TEST(TextTable, ContinuesColumnsBeyondEighty) {
  const std::string wide(35, 'x');
  Table table{.columns = {{"row"}, {"a", true}, {"b", true}}, .rows = {{"1", wide, wide + "yyy"}, {"2", "", "z"}}};
  const std::string space(37, ' ');
  EXPECT_EQ(to_text(table).str(), "row  " + std::string(34, ' ') + "a  " + space + "b\n1    " + wide + "  " + wide +
                                      "yyy\n2    " + std::string(35, ' ') + "  " + space + "z\n");
  EXPECT_EQ(line_width(table), 80U);
  table.rows[1][2] = std::string(39, 'z');
  EXPECT_EQ(to_text(table).str(), "row  " + std::string(34, ' ') + "a\n1    " + wide + "\n2\n\nrow  " +
                                      std::string(38, ' ') + "b\n1     " + wide + "yyy\n2    " + table.rows[1][2] +
                                      "\n");
  EXPECT_EQ(line_width(table), 81U);
  table.columns.insert(table.columns.begin() + 1, {"c", true});
  table.rows[1][2] = "z";
  for (auto& row : table.rows) row.insert(row.begin() + 1, "7");
  table.columns.back().follows = true;
  EXPECT_EQ(to_text(table).str().find("row  c\n"), 0U) << "a and b are beside each other: " << to_text(table).str();
  table.columns.erase(table.columns.begin() + 1);
  table.columns.resize(2);
  table.rows = {{std::string(60, 'n'), std::string(60, '1')}};
  EXPECT_EQ(to_text(table).str().find("\n\n"), std::string::npos) << "a second column stays beside the first";
}

}  // namespace
}  // namespace saccade
