#include "measure/report/page.hpp"

#include <gtest/gtest.h>

#include "measure/report/markup.hpp"

namespace saccade {
namespace {

TEST(Markup, EscapesWhatMeansSomething) {
  EXPECT_EQ(escape_markup("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escape_markup("µ\x01\xFF"), "µ \xEF\xBF\xBD");
  EXPECT_EQ(escape_markup("a\u009b\u202eb\x7f"), "a  b ");
}

TEST(Markup, Base64IsPadded) {
  // The test vectors of RFC 4648.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(Units, SuitTheSize) {
  EXPECT_EQ(duration_text(Nanoseconds(0)), "0 ns");
  EXPECT_EQ(duration_text(Nanoseconds(812)), "812 ns");
  EXPECT_EQ(duration_text(Nanoseconds(9'412'345)), "9.41 ms");
  EXPECT_EQ(duration_text(Nanoseconds(999'900)), "1 ms");
  EXPECT_EQ(duration_text(Nanoseconds(12'000)), "12 µs");
  EXPECT_EQ(quantity_text(56.28e12, "FLOP/s"), "56.3 TFLOP/s");
  EXPECT_EQ(percent_text(0.4149), "41 %");
  EXPECT_EQ(percent_text(0.00042), "0.042 %");
  EXPECT_EQ(number_text(12345), "12345");
}

TEST(Page, EscapesEverythingThatItIsGiven) {
  Page page("<t>", "<s>");
  page.tile({"<l>", "<v>", "<n>"});
  page.lead("<lead>");
  page.section("<h>");
  page.text("<p1>");
  page.table({"<c>", {{"<k>"}}, {{"<x>"}}});
  page.images({{.bytes = "foo", .description = "\"<d>", .caption = "<f>"}});
  const std::string html = page.html();
  for (const char* raw :
       {"<t>", "<s>", "<l>", "<v>", "<n>", "<lead>", "<h>", "<p1>", "<c>", "<k>", "<x>", "<d>", "<f>"})
    EXPECT_EQ(html.find(raw), std::string::npos) << raw;
  EXPECT_NE(html.find(R"(<img alt="&quot;&lt;d&gt;" src="data:image/jpeg;base64,Zm9v">)"), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;t&gt;</title>"), std::string::npos);
}

TEST(Page, NeedsNothingElse) {
  Page page("t", "s");
  page.section("one");
  page.chart(BoundBars{"bars", {{"a", "", Nanoseconds(1e6), Nanoseconds(1e5)}}}, "caption");
  page.section("two");
  const std::string html = page.html();
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  for (const char* outside : {"http:", "https:", "<script", "url(", "@import", "<link"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  // Every chart is present for wide and for narrow screens; the sections are linked.
  EXPECT_NE(html.find("viewBox=\"0 0 760 "), std::string::npos);
  EXPECT_NE(html.find("viewBox=\"0 0 350 "), std::string::npos);
  EXPECT_NE(html.find("<a href=\"#section-2\">two</a>"), std::string::npos);
  EXPECT_NE(html.find("<section id=\"section-2\">"), std::string::npos);
}

TEST(Page, ClosesWhatItOpens) {
  Page page("t", "s");
  page.tile({"a", "1", ""});
  page.section("one");
  page.table({"", {{"k"}, {"n", true}}, {{"x", "1"}, {"y"}}});
  page.section("two");
  page.images({{.bytes = "foo", .description = "d"}});
  page.chart(ShareBars{"bars", {{"a", "", 0.5}}});
  const std::string html = page.html();
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) ++found;
    return found;
  };
  for (const char* name :
       {"html", "head", "body", "main", "section", "div", "table", "tbody", "tr", "dl", "figure", "svg"}) {
    const std::string tag = name;
    EXPECT_EQ(count("<" + tag + ">") + count("<" + tag + " "), count("</" + tag + ">")) << tag;
  }
}

}  // namespace
}  // namespace saccade
