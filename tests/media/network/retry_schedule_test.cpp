#include "media/network/retry_schedule.hpp"

#include <gtest/gtest.h>

namespace saccade::network {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RetrySchedule, IsEagerForAMinute) {
  RetrySchedule schedule(1);
  const auto start = Clock::now();
  schedule.arrive(start);
  for (const seconds away : {seconds(0), seconds(30), seconds(59), seconds(61), seconds(600)}) {
    schedule.attempt(start + away);
    const auto wait = schedule.next() - (start + away);
    const milliseconds period = away < seconds(60) ? milliseconds(800) : milliseconds(10'000);
    EXPECT_GE(wait, 0.9 * period);
    EXPECT_LE(wait, 1.1 * period);
  }
}

TEST(RetrySchedule, ARefusedLoginIsNotRepeatedSoon) {
  RetrySchedule schedule(1);
  const auto start = Clock::now();
  schedule.arrive(start);
  schedule.attempt(start);
  schedule.refuse(start);
  EXPECT_GE(schedule.next() - start, seconds(9));
}

TEST(RetrySchedule, ThoseOfSeveralStreamsDiffer) {
  RetrySchedule one(1);
  RetrySchedule other(2);
  const auto start = Clock::now();
  one.attempt(start);
  other.attempt(start);
  EXPECT_NE(one.next(), other.next());
}

}  // namespace
}  // namespace saccade::network
