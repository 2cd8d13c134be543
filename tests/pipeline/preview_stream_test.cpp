#include "pipeline/sinks/preview_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "pipeline/sinks/preview_page.hpp"

namespace saccade {
namespace {

constexpr auto kNone = Clock::duration::zero();

TEST(PreviewStream, IsWatchedWhileThereIsAViewer) {
  PreviewStream stream;
  EXPECT_FALSE(stream.is_watched());
  {
    const PreviewStream::Viewer one(stream);
    const PreviewStream::Viewer other(stream);
    EXPECT_TRUE(stream.is_watched());
  }
  EXPECT_FALSE(stream.is_watched());
}

TEST(PreviewStream, GivesASlowViewerTheNewestImage) {
  PreviewStream stream;
  EXPECT_EQ(stream.wait_for(0, kNone).jpeg, nullptr);
  for (const char* jpeg : {"a", "b", "c"}) stream.show(jpeg);
  const PreviewStream::Image image = stream.wait_for(0, kNone);
  ASSERT_NE(image.jpeg, nullptr);
  EXPECT_EQ(*image.jpeg, "c");
  EXPECT_EQ(image.number, 3);
  EXPECT_EQ(stream.wait_for(3, kNone).jpeg, nullptr);
  EXPECT_EQ(*stream.newest().jpeg, "c");
}

TEST(PreviewStream, WakesThoseWhoWait) {
  PreviewStream stream;
  std::string seen;
  std::thread viewer([&] { seen = *stream.wait_for(0, std::chrono::minutes(1)).jpeg; });
  stream.show("a");
  viewer.join();
  EXPECT_EQ(seen, "a");
  PreviewStream::Image last;
  std::thread late([&] { last = stream.wait_for(1, std::chrono::minutes(1)); });
  stream.end();
  late.join();
  EXPECT_EQ(last.jpeg, nullptr);
  EXPECT_TRUE(stream.state().ended);
}

TEST(PreviewStream, KnowsTheRateAndTheObjects) {
  constexpr std::chrono::milliseconds kLatency(5);
  PreviewStream stream;
  const Clock::time_point now = Clock::now();
  for (int i = 100; i >= 0; --i)
    stream.count(static_cast<std::size_t>(i), now - i * std::chrono::milliseconds(20), kLatency);
  const PreviewStream::State state = stream.state();
  EXPECT_EQ(state.frames, 101);
  EXPECT_EQ(state.objects, 0U);
  EXPECT_NEAR(state.frame_rate, 50, 0.1);
}

TEST(PreviewStream, KnowsTheLatenciesOfTheLastResults) {
  PreviewStream stream;
  EXPECT_EQ(stream.state().p99.count(), 0);
  stream.count(0, Clock::now(), std::chrono::milliseconds(7));
  EXPECT_EQ(stream.state().p50, std::chrono::milliseconds(7));
  EXPECT_EQ(stream.state().p99, std::chrono::milliseconds(7));
  // A thousand, of which the first half is forgotten.
  for (int i = 0; i < 1000; ++i) stream.count(0, Clock::now(), std::chrono::milliseconds(i < 500 ? 10000 : i - 499));
  EXPECT_EQ(stream.state().p50, std::chrono::milliseconds(250));
  EXPECT_EQ(stream.state().p99, std::chrono::milliseconds(495));
}

TEST(PreviewPage, EscapesNames) {
  const std::vector<std::string> names = {"<b>&\"x"};
  const std::string page = preview_page(names);
  EXPECT_EQ(page.find("<b>&\""), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&amp;&quot;x"), std::string::npos);
  EXPECT_NE(page.find("stream/0.mjpg"), std::string::npos);
}

TEST(PreviewPage, StatusHasTheLedgerOfARun) {
  const std::vector<std::string> names = {"<b>&\"x"};
  const std::vector<PreviewStream::State> states = {{.frames = 3,
                                                     .objects = 2,
                                                     .frame_rate = 25,
                                                     .p50 = std::chrono::microseconds(8100),
                                                     .p99 = std::chrono::milliseconds(12),
                                                     .ended = true}};
  const std::string begin =
      R"([{"stream":0,"name":"<b>&\"x","frames":3,"frame_rate":25.0,"objects":2,"latency_ms":{"p50":8.1000,"p99":12.0000},"ledger":)";
  EXPECT_EQ(preview_status(names, states, std::nullopt), begin + "null,\"ended\":true}]\n");
  Summary summary;
  summary.streams.emplace_back();
  summary.streams[0].ledger.captured = 9;
  const std::string status = preview_status(names, states, summary);
  EXPECT_EQ(status.find(begin + R"({"captured":9,)"), 0U) << status;
}

TEST(PreviewPage, RequestsImagesOfManyStreams) {
  const std::vector<std::string> names(5, "a");
  const std::string page = preview_page(names);
  EXPECT_NE(page.find("stream/4.jpg"), std::string::npos);
  EXPECT_EQ(page.find("data-src=\"stream/0.mjpg"), std::string::npos);
}

}  // namespace
}  // namespace saccade
