#include "media/network/stream_clock.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "media/network/retry_schedule.hpp"

namespace saccade::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;

constexpr std::int64_t kMs = 1'000'000;

TEST(StreamClock, FollowsPresentationTimes) {
  StreamClock clock;
  const auto start = Clock::now();
  EXPECT_EQ(clock.stamp(90 * kMs, start), 0);
  EXPECT_EQ(clock.stamp(130 * kMs, start + milliseconds(300)), 40 * kMs) << "however late it arrives";
  EXPECT_EQ(clock.stamp(170 * kMs, start + milliseconds(301)), 80 * kMs);
}

TEST(StreamClock, AConnectionBeginsWhenItArrives) {
  StreamClock clock;
  const auto start = Clock::now();
  EXPECT_EQ(clock.stamp(5000 * kMs, start), 0);
  clock.restart();
  EXPECT_EQ(clock.stamp(7 * kMs, start + seconds(20)), 20'000 * kMs);
  EXPECT_EQ(clock.stamp(47 * kMs, start + seconds(21)), 20'040 * kMs);
}

TEST(StreamClock, AlwaysIncreases) {
  StreamClock clock;
  const auto start = Clock::now();
  std::int64_t last = -1;
  for (const std::int64_t time :
       {std::int64_t{0}, 100 * kMs, 100 * kMs, 50 * kMs, INT64_MAX, INT64_MIN, std::int64_t{0}, 3600 * 1000 * kMs}) {
    const std::int64_t stamp = clock.stamp(time, start);
    EXPECT_GT(stamp, last);
    last = stamp;
  }
  EXPECT_LT(last, 200 * kMs) << "a jump is no time";
  EXPECT_GT(clock.stamp(std::nullopt, start), last);
}

TEST(StreamClock, WithoutTimesItIsThatOfTheArrival) {
  StreamClock clock;
  const auto start = Clock::now();
  EXPECT_EQ(clock.stamp(std::nullopt, start), 0);
  EXPECT_EQ(clock.stamp(std::nullopt, start + milliseconds(70)), 70 * kMs);
}

TEST(SenderClock, GivesTheTimeOfExposure) {
  const Arrival arrival{.steady = Clock::now(), .wall = system_clock::now()};
  const SenderStamp stamp = check_sender(arrival.wall - milliseconds(120), arrival);
  EXPECT_EQ(stamp.captured_at, arrival.wall - milliseconds(120));
  EXPECT_EQ(stamp.exposed, arrival.steady - milliseconds(120));
  EXPECT_FALSE(stamp.is_replaced);
}

TEST(SenderClock, ThatIsWrongIsReplaced) {
  const Arrival arrival{.steady = Clock::now(), .wall = system_clock::now()};
  for (const auto age : {milliseconds(-1), milliseconds(60'001), milliseconds(86'400'000)}) {
    const SenderStamp stamp = check_sender(arrival.wall - age, arrival);
    EXPECT_EQ(stamp.captured_at, arrival.wall);
    EXPECT_FALSE(stamp.exposed);
    EXPECT_TRUE(stamp.is_replaced);
  }
}

TEST(SenderClock, ThatIsUnknownIsThatOfTheArrival) {
  const Arrival arrival{.steady = Clock::now(), .wall = system_clock::now()};
  const SenderStamp stamp = check_sender(std::nullopt, arrival);
  EXPECT_EQ(stamp.captured_at, arrival.wall);
  EXPECT_FALSE(stamp.exposed);
  EXPECT_FALSE(stamp.is_replaced);
}

TEST(RetrySchedule, IsFrequentForAMinuteThenEveryTenSeconds) {
  for (std::uint32_t seed = 1; seed < 20; ++seed) {
    RetrySchedule schedule(seed);
    const auto start = Clock::now();
    schedule.arrive(start);
    auto now = start;
    for (int i = 0; i < 100; ++i) {
      schedule.attempt(now);
      const auto period = now - start < seconds(60) ? milliseconds(800) : milliseconds(10'000);
      EXPECT_GE(schedule.next() - now, period * 9 / 10);
      EXPECT_LE(schedule.next() - now, period * 11 / 10);
      now = schedule.next();
    }
    schedule.arrive(now);
    schedule.attempt(now + milliseconds(1));
    EXPECT_LT(schedule.next() - now, seconds(2)) << "after video, it is frequent again";
  }
}

TEST(RetrySchedule, AnAttemptThatTookLongerIsFollowedByTheNext) {
  RetrySchedule schedule(1);
  EXPECT_LE(schedule.next(), Clock::now()) << "the first is at once";
  const auto start = Clock::now();
  schedule.attempt(start);
  EXPECT_LT(schedule.next(), start + seconds(5));
}

TEST(RetrySchedule, AttemptsAreShortUntilThreeHaveMissed) {
  RetrySchedule schedule(1);
  const OpeningTimes fast{.response = milliseconds(100), .video = milliseconds(100), .silence = milliseconds(40)};
  const OpeningTimes slow{.response = milliseconds(800), .video = milliseconds(700), .silence = milliseconds(500)};
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 5; ++i) {
    waits.push_back(schedule.patience(seconds(5), fast).response / milliseconds(1));
    EXPECT_EQ(schedule.patience(seconds(5), fast).video, i == 3 ? seconds(5) : milliseconds(500));
    EXPECT_EQ(schedule.patience(seconds(5), fast).silence, i == 3 ? seconds(5) : milliseconds(300));
    schedule.miss();
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{700, 700, 700, 5000, 700}));
  EXPECT_EQ(schedule.patience(seconds(5), slow).response, milliseconds(2400));
  EXPECT_EQ(schedule.patience(seconds(5), slow).video, milliseconds(2100));
  EXPECT_EQ(schedule.patience(seconds(5), slow).silence, milliseconds(1500));
  EXPECT_EQ(schedule.patience(seconds(1), slow).response, seconds(1));
  EXPECT_EQ(schedule.patience(milliseconds(400), fast).video, milliseconds(400));
  schedule.miss();
  schedule.miss();
  schedule.arrive(Clock::now());
  EXPECT_EQ(schedule.patience(seconds(5), {}).response, milliseconds(700)) << "video has come";
}

TEST(RetrySchedule, AttemptsThatFailedForAnotherReasonAreNoMisses) {
  RetrySchedule schedule(1);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(schedule.patience(seconds(5), {}).response, milliseconds(700)) << i;
    i % 3 == 2 ? schedule.fail() : schedule.miss();
  }
}

TEST(RetrySchedule, StreamsOfOneServerDoNotComeTogether) {
  const auto start = Clock::now();
  RetrySchedule one(1);
  RetrySchedule other(2);
  one.attempt(start);
  other.attempt(start);
  EXPECT_NE(one.next(), other.next());
}

}  // namespace
}  // namespace saccade::network
