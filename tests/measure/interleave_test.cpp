#include "measure/bench/interleave.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "measure/bench/own_engine.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Reports a scripted duration without spending it; records its turns.
class Scripted : public Contender {
 public:
  Scripted(std::string name, nanoseconds run, std::string& turns, int last_block = 1000)
      : name_(std::move(name)), run_(run), turns_(turns), last_block_(last_block) {}

  const std::string& name() const override { return name_; }
  Block run(int unmeasured, int runs) override {
    if (blocks_++ == last_block_) fail(ErrorCode::kIo, "{} fell over", name_);
    turns_ += name_;
    unmeasured_ = unmeasured;
    return {.latencies = std::vector<nanoseconds>(static_cast<std::size_t>(runs), run_), .wall = run_ * runs};
  }
  void wait_until_idle() override { ++idle_waits; }

  int idle_waits = 0;

 private:
  std::string name_;
  nanoseconds run_;
  std::string& turns_;
  int last_block_;
  int blocks_ = 0;
  int unmeasured_ = 0;
};

TEST(Interleave, GivesEveryOneItsRunsAndItsTimeInRounds) {
  std::string turns;
  Scripted fast("a", milliseconds(1), turns);
  Scripted slow("b", milliseconds(100), turns);
  const std::vector<Contender*> both = {&fast, &slow};
  const auto series = interleave(both, {.runs = 20, .seconds = 1, .blocks = 10, .seed = 3});
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].blocks.size(), 10U);
  EXPECT_EQ(series[1].blocks.size(), 10U);
  EXPECT_EQ(series[0].latencies().size(), 1000U);  // a second of 1 ms
  EXPECT_EQ(series[1].latencies().size(), 20U);    // 20 runs take longer
  EXPECT_EQ(series[0].warm_up, 300);
  EXPECT_EQ(series[1].warm_up, 3);
  EXPECT_EQ(series[0].unmeasured, 20);
  EXPECT_EQ(series[1].unmeasured, 1);
  EXPECT_DOUBLE_EQ(series[1].throughput(), 10);
  EXPECT_DOUBLE_EQ(series[1].medians_ms()[0], 100);
  EXPECT_EQ(fast.idle_waits, 11);
  // After the warm-up "aab", each pair is a round; not all in the same order.
  std::string orders;
  for (std::size_t i = 3; i < turns.size(); i += 2) {
    EXPECT_NE(turns[i], turns[i + 1]);
    orders += turns[i];
  }
  EXPECT_NE(orders.find('a'), std::string::npos);
  EXPECT_NE(orders.find('b'), std::string::npos);
}

TEST(Interleave, NeedsNoRestWhereItIsAlone) {
  std::string turns;
  Scripted only("a", milliseconds(10), turns);
  const std::vector<Contender*> one = {&only};
  const auto series = interleave(one, {.runs = 30, .seconds = 0, .blocks = 10});
  EXPECT_EQ(series[0].latencies().size(), 30U);
  EXPECT_EQ(series[0].unmeasured, 0);
  EXPECT_EQ(only.idle_waits, 0);
}

TEST(Interleave, GoesOnWithoutOneThatFails) {
  std::string turns;
  Scripted good("a", milliseconds(1), turns);
  Scripted bad("b", milliseconds(1), turns, 5);
  const std::vector<Contender*> both = {&good, &bad};
  const auto series = interleave(both, {.runs = 100, .seconds = 0, .blocks = 10});
  EXPECT_FALSE(series[0].failure);
  EXPECT_EQ(series[0].blocks.size(), 10U);
  ASSERT_TRUE(series[1].failure);
  EXPECT_STREQ(series[1].failure->what(), "b fell over");
  EXPECT_EQ(series[1].blocks.size(), 3U);
}

TEST(OwnEngine, RunsEveryStreamAtLeastAsOftenAsRequested) {
  std::atomic<int> made = 0;
  std::atomic<int> runs = 0;
  OwnEngine engine(
      [&] {
        ++made;
        return [&]() -> InferenceTimes {
          ++runs;
          return {nanoseconds(1), nanoseconds(2), nanoseconds(3)};
        };
      },
      3);
  const Block block = engine.run(2, 5);
  EXPECT_EQ(made, 3);
  EXPECT_GE(block.latencies.size(), 15U);
  EXPECT_EQ(block.latencies.size() + 6, static_cast<std::size_t>(runs));
  EXPECT_EQ(block.stages[1].size(), block.latencies.size());
  EXPECT_EQ(block.stages[1].front().count(), 2);
  EXPECT_GE(engine.run(0, 5).latencies.size(), 15U);
  EXPECT_EQ(made, 3);
}

TEST(OwnEngine, AStreamThatFailsEndsTheBlock) {
  std::atomic<int> runs = 0;
  OwnEngine engine(
      [&] {
        return [&]() -> InferenceTimes {
          if (++runs > 10) fail(ErrorCode::kInvalidArgument, "no more");
          return {};
        };
      },
      2);
  EXPECT_THROW(engine.run(0, 1000), Error);
}

}  // namespace
}  // namespace saccade
