#include "base/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace saccade {
namespace {

constexpr auto kForever = BoundedQueue<int>::Clock::time_point::max();
constexpr auto kNow = BoundedQueue<int>::Clock::time_point::min();

struct Taken {
  PopStatus what;
  int item = 0;
  std::size_t lane = 99;
};

Taken pop(BoundedQueue<int>& queue, BoundedQueue<int>::Clock::time_point deadline = kForever) {
  Taken taken;
  taken.what = queue.pop(taken.item, taken.lane, deadline);
  return taken;
}

TEST(BoundedQueue, GivesItemsBackInOrder) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 2}});
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(queue.push(0, 10));
    EXPECT_FALSE(queue.push(0, 20));
    EXPECT_EQ(pop(queue).item, 10);
    EXPECT_EQ(pop(queue).item, 20);
  }
}

TEST(BoundedQueue, OldestGivesWay) {
  BoundedQueue<int> queue({{DropPolicy::kOldest, 2}});
  queue.push(0, 1);
  queue.push(0, 2);
  EXPECT_EQ(queue.push(0, 3), 1);
  EXPECT_EQ(pop(queue).item, 2);
  EXPECT_EQ(pop(queue).item, 3);
}

TEST(BoundedQueue, NewestGivesWay) {
  BoundedQueue<int> queue({{DropPolicy::kNewest, 2}});
  queue.push(0, 1);
  queue.push(0, 2);
  EXPECT_EQ(queue.push(0, 3), 3);
  EXPECT_EQ(pop(queue).item, 1);
  EXPECT_EQ(pop(queue).item, 2);
}

TEST(BoundedQueue, ABusyLaneDoesNotHideTheEndOfAnother) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 2}, {DropPolicy::kWait, 2}});
  queue.push(0, 1);
  queue.push(0, 2);
  queue.close(1);
  int item = 0;
  std::size_t lane = 99;
  EXPECT_FALSE(queue.try_pop(item, lane)) << "the end comes first";
  const Taken end = pop(queue, kNow);
  EXPECT_EQ(end.what, PopStatus::kLaneClosed);
  EXPECT_EQ(end.lane, 1U);
  EXPECT_TRUE(queue.try_pop(item, lane));
  EXPECT_EQ(item, 1);
}

TEST(BoundedQueue, WaitingProducerLosesNothing) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 1}});
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(queue.push(0, i));
    queue.close(0);
  });
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(pop(queue).item, i);
  EXPECT_EQ(pop(queue).what, PopStatus::kLaneClosed);
  EXPECT_EQ(pop(queue).what, PopStatus::kClosed);
  producer.join();
}

TEST(BoundedQueue, LanesTakeTurns) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 3}, {DropPolicy::kWait, 3}});
  for (int i : {1, 2, 3}) queue.push(0, i);
  for (int i : {10, 20}) queue.push(1, i);
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) order.push_back(pop(queue).item);
  EXPECT_EQ(order, (std::vector<int>{1, 10, 2, 20, 3}));
}

TEST(BoundedQueue, ReportsAClosedLaneOnceItIsEmpty) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 1}, {DropPolicy::kWait, 1}});
  queue.push(1, 7);
  queue.close(1);
  EXPECT_EQ(pop(queue).what, PopStatus::kItem);
  const Taken end = pop(queue);
  EXPECT_EQ(end.what, PopStatus::kLaneClosed);
  EXPECT_EQ(end.lane, 1U);
  EXPECT_EQ(pop(queue, kNow).what, PopStatus::kTimeout);
  queue.close(0);
  EXPECT_EQ(pop(queue).lane, 0U);
  EXPECT_EQ(pop(queue).what, PopStatus::kClosed);
}

TEST(BoundedQueue, CancelEndsWaitsAndLeavesItemsToDrain) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 1}});
  queue.push(0, 1);
  std::optional<int> back;
  std::thread producer([&] { back = queue.push(0, 2); });
  queue.cancel();
  producer.join();
  EXPECT_EQ(back, 2);
  EXPECT_EQ(pop(queue).what, PopStatus::kCancelled);
  EXPECT_EQ(queue.drain(0), 1);
  EXPECT_EQ(queue.drain(0), std::nullopt);
}

TEST(BoundedQueue, CountsTheItemsOfALane) {
  BoundedQueue<int> queue({{DropPolicy::kWait, 2}, {DropPolicy::kWait, 3}});
  queue.push(1, 5);
  queue.push(1, 6);
  EXPECT_EQ(queue.size(0), 0U);
  EXPECT_EQ(queue.size(1), 2U);
  pop(queue);
  EXPECT_EQ(queue.size(1), 1U);
}

TEST(BoundedQueue, RefusesZeroCapacity) { EXPECT_THROW(BoundedQueue<int>({{DropPolicy::kWait, 0}}), Error); }

}  // namespace
}  // namespace saccade
