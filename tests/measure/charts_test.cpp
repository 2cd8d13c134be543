#include "measure/report/charts.hpp"

#include <gtest/gtest.h>

#include "measure/report/svg.hpp"
#include "measure/shapes.hpp"
#include "measure/times.hpp"

namespace saccade {
namespace {

using namespace std::chrono_literals;
using test::ms;
using test::number;
using test::shapes;

TEST(Ticks, AreRoundNumbersInside) {
  EXPECT_EQ(ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(ticks(3, 9, 3), (std::vector<double>{4, 6, 8}));
  EXPECT_EQ(decades(0.5, 200), (std::vector<double>{1, 10, 100}));
}

TEST(FitText, CutsAtCodePoints) {
  EXPECT_EQ(fit_text("short", 100), "short");
  // 12 px: 6.72 px per character, so that 30 px hold three and an ellipsis.
  EXPECT_EQ(fit_text("µµµµµµ", 30), "µµµ…");
}

TEST(Shape, CountsEverySampleOnce) {
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.add(1ms + i * 10us);
  const LatencyShape shape = shape_of(histogram, 10);
  ASSERT_EQ(shape.bins.size(), 10U);
  double sum = 0;
  for (const auto& bin : shape.bins) {
    EXPECT_NEAR(bin.count, 10, 1.5);
    sum += bin.count;
  }
  EXPECT_NEAR(sum, 100, 1e-6);
  EXPECT_EQ(shape.beyond, 0);
  EXPECT_DOUBLE_EQ(shape.bins.front().low.count(), 1e6);
}

TEST(Shape, CutsALongTailAndReportsIt) {
  Histogram histogram;
  for (int i = 0; i < 995; ++i) histogram.add(1ms + i * 100ns);
  for (int i = 0; i < 5; ++i) histogram.add(900ms);
  const LatencyShape shape = shape_of(histogram, 40);
  EXPECT_EQ(shape.beyond, 5);
  EXPECT_EQ(shape.longest, Nanoseconds(900ms));
  EXPECT_LT(shape.bins.back().high, ms(2));
}

TEST(Shape, DensityHoldsAllSamplesAndPeaksAtThem) {
  Histogram histogram;
  for (int i = -50; i <= 50; ++i)
    for (int k = 0; k < 51 - std::abs(i); ++k) histogram.add(10ms + i * 20us);
  const LatencyShape shape = shape_of(histogram, 50);
  const double step = (shape.density[1].at - shape.density[0].at).count();
  const double bin = (shape.bins[0].high - shape.bins[0].low).count();
  double sum = 0;
  std::size_t peak = 0;
  for (std::size_t i = 0; i < shape.density.size(); ++i) {
    sum += shape.density[i].count * step / bin;
    if (shape.density[i].count > shape.density[peak].count) peak = i;
  }
  EXPECT_NEAR(sum, static_cast<double>(shape.samples), 0.03 * static_cast<double>(shape.samples));
  EXPECT_NEAR(shape.density[peak].at.count(), 10e6, 0.05e6);
}

TEST(Shape, OfEqualSamplesIsOneBar) {
  Histogram histogram;
  for (int i = 0; i < 7; ++i) histogram.add(5ms);
  const LatencyShape shape = shape_of(histogram, 40);
  ASSERT_EQ(shape.bins.size(), 1U);
  EXPECT_NEAR(shape.bins[0].count, 7, 1e-6);
  EXPECT_TRUE(shape_of(Histogram(), 40).bins.empty());
}

TEST(HistogramChart, BarsStandOnTheAxisAsHighAsTheirCounts) {
  LatencyHistogram chart{.title = "t"};
  chart.shape.bins = {{ms(0), ms(1), 30}, {ms(1), ms(2), 60}};
  chart.shape.samples = 90;
  chart.marks = {{"p50", ms(1)}, {"p99", ms(5)}};
  const std::string svg = draw(chart, 760);
  const auto bars = shapes(svg, "rect", "bar");
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(number(bars[1], "height"), 2 * number(bars[0], "height"), 0.2);
  EXPECT_NEAR(number(bars[0], "y") + number(bars[0], "height"), number(bars[1], "y") + number(bars[1], "height"), 0.2);
  // The plot spans x = 48 to 748; a mark outside of it is not drawn.
  EXPECT_EQ(number(bars[0], "x"), 48);
  EXPECT_EQ(number(bars[1], "x"), 398);
  const auto marks = shapes(svg, "line", "mark");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(number(marks[0], "x1"), 398);
  EXPECT_NE(svg.find(">p50 1 ms<"), std::string::npos);
}

TEST(TimelineChart, StacksTheStages) {
  const StageTimeline chart{"t", {"pre", "model"}, {{0, {ms(1), ms(3)}}, {1, {ms(2), ms(6)}}}};
  const std::string svg = draw(chart, 760);
  auto pre = shapes(svg, "rect", "s-pre");
  auto model = shapes(svg, "rect", "s-model");
  ASSERT_EQ(pre.size(), 3U);  // the legend's square comes first
  ASSERT_EQ(model.size(), 3U);
  EXPECT_NEAR(number(model[1], "height"), 3 * number(pre[1], "height"), 0.3);
  EXPECT_NEAR(number(model[2], "height"), 2 * number(model[1], "height"), 0.3);
  EXPECT_NEAR(number(model[1], "y") + number(model[1], "height"), number(pre[1], "y"), 0.11);
}

TEST(GanttChart, SpansLieAtTheirTimes) {
  const Gantt chart{"t", {{"model thread", {{ms(10), ms(15), "7", "model"}, {ms(15), ms(20), "7", "post"}}}}};
  const std::string svg = draw(chart, 760);
  // 4 to 748 is 10 ms.
  const auto post = shapes(svg, "rect", "s-post");
  EXPECT_NEAR(number(post.back(), "x"), 376, 0.11);
  EXPECT_NEAR(number(post.back(), "width"), 371.5, 0.11);
}

TEST(BoundBarsChart, TheDarkPartIsTheBound) {
  const BoundBars chart{"t", {{"a", "", ms(8), ms(2)}, {"b", "", ms(4), ms(0)}}};
  const std::string svg = draw(chart, 400);
  const auto bars = shapes(svg, "rect", "bar");
  const auto bounds = shapes(svg, "rect", "bound");
  ASSERT_EQ(bars.size(), 3U);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_EQ(number(bars[1], "width"), 400);
  EXPECT_EQ(number(bars[2], "width"), 200);
  EXPECT_EQ(number(bounds[1], "width"), 100);
  EXPECT_NE(svg.find("8 ms · 25 % of bound"), std::string::npos) << svg;
}

TEST(RooflineChart, DotsLieByTheLogarithmAndRoofsMeetAtTheRidge) {
  Roofline chart{.title = "t"};
  chart.compute = {{"peak", 1e11}};
  chart.memory = {{"memory", 1e10}};
  chart.points = {{"one", 1, 1e10, ms(4), "model"}, {"two", 10, 1e10, ms(1), "model"}, {"none", 0, 0, ms(1), "model"}};
  const std::string svg = draw(chart, 760);
  const auto dots = shapes(svg, "circle", "dot s-model");
  ASSERT_EQ(dots.size(), 2U);
  EXPECT_EQ(number(dots[0], "cy"), number(dots[1], "cy"));
  EXPECT_NEAR(number(dots[0], "r"), 2 * number(dots[1], "r"), 0.11);
  // "one" lies on the memory slope; the roofline's ridge is at 10 operations per byte, at "two".
  const auto roofs = shapes(svg, "line", "roof");
  ASSERT_EQ(roofs.size(), 2U);
  EXPECT_EQ(number(roofs[0], "x2"), number(dots[1], "cx"));
  EXPECT_EQ(number(roofs[0], "y2"), number(roofs[1], "y1"));
  const double slope =
      (number(roofs[0], "y2") - number(roofs[0], "y1")) / (number(roofs[0], "x2") - number(roofs[0], "x1"));
  EXPECT_NEAR(number(roofs[0], "y1") + slope * (number(dots[0], "cx") - number(roofs[0], "x1")), number(dots[0], "cy"),
              0.3);
}

TEST(Charts, EscapeNames) {
  const std::string svg = draw(BoundBars{"a<b>", {{"<script>\"x\"&", "", ms(1), ms(0)}}}, 760);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_NE(svg.find("&lt;script&gt;&quot;x&quot;&amp;"), std::string::npos);
  EXPECT_NE(svg.find("aria-label=\"a&lt;b&gt;: "), std::string::npos);
}

TEST(Charts, AreDrawnWithoutData) {
  EXPECT_NE(draw(LatencyHistogram{}, 350).find("no samples"), std::string::npos);
  for (const std::string& svg : {draw(StageTimeline{}, 350), draw(Gantt{}, 350), draw(BoundBars{}, 350),
                                 draw(ShareBars{}, 350), draw(Roofline{}, 350)}) {
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
  }
}

}  // namespace
}  // namespace saccade
