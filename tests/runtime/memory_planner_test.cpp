#include "runtime/memory_planner.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace saccade {
namespace {

bool overlap(const MemoryRequest& a, const MemoryRequest& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(MemoryPlanner, GivesAChainTwoBuffers) {
  std::vector<MemoryRequest> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({.bytes = 100, .first = i, .last = i + 1});
  EXPECT_EQ(plan_memory(chain), 2 * 128);
  EXPECT_EQ(chain[0].offset, chain[2].offset);
  EXPECT_NE(chain[0].offset, chain[1].offset);
}

TEST(MemoryPlanner, FillsTheGapAboveALongLivedValue) {
  std::vector<MemoryRequest> requests = {{.bytes = 640, .first = 0, .last = 1},
                                         {.bytes = 320, .first = 0, .last = 9},
                                         {.bytes = 640, .first = 2, .last = 3}};
  EXPECT_EQ(plan_memory(requests), 960);
  EXPECT_EQ(requests[0].offset, requests[2].offset);
}

TEST(MemoryPlanner, TakesNothingForNothing) {
  std::vector<MemoryRequest> none;
  EXPECT_EQ(plan_memory(none), 0);
  std::vector<MemoryRequest> empty = {{.bytes = 0, .first = 0, .last = 3}};
  EXPECT_EQ(plan_memory(empty), 0);
}

TEST(MemoryPlanner, NeverOverlapsWhatLivesTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<MemoryRequest> requests(60);
    std::size_t sum = 0;
    for (MemoryRequest& request : requests) {
      request.bytes = random() % 5000;
      request.first = static_cast<int>(random() % 40);
      request.last = request.first + static_cast<int>(random() % 10);
      sum += (request.bytes + 63) / 64 * 64;
    }
    const std::size_t arena = plan_memory(requests);
    EXPECT_LE(arena, sum);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(requests[i].offset % kArenaAlignment, 0);
      EXPECT_LE(requests[i].offset + requests[i].bytes, arena);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together = requests[i].first <= requests[j].last && requests[j].first <= requests[i].last;
        EXPECT_FALSE(together && overlap(requests[i], requests[j])) << "round " << round << ": " << i << " and " << j;
      }
    }
  }
}

// ---- more requests than are placed by size ------------------------------------------------------------------------

constexpr int kMany = 20'000;

TEST(MemoryPlanner, GivesALongChainTwoBuffers) {
  std::vector<MemoryRequest> chain;
  for (int i = 0; i < kMany; ++i) chain.push_back({.bytes = 100, .first = i, .last = i + 1});
  EXPECT_EQ(plan_memory(chain), 2 * 128);
  EXPECT_EQ(chain[0].offset, chain[2].offset);
  EXPECT_NE(chain[0].offset, chain[1].offset);
}

TEST(MemoryPlanner, GivesManyThatLiveTogetherTheirSum) {
  std::vector<MemoryRequest> together;
  for (int i = 0; i < kMany; ++i) together.push_back({.bytes = 64, .first = 0, .last = 1});
  EXPECT_EQ(plan_memory(together), kMany * 64);
}

TEST(MemoryPlanner, JoinsHolesAndLetsTheLastOneGrow) {
  // Two neighbours die and leave room for one of their size; that dies, too, and one larger takes its place.
  std::vector<MemoryRequest> requests = {{.bytes = 64, .first = 0, .last = 1},
                                         {.bytes = 64, .first = 0, .last = 1},
                                         {.bytes = 128, .first = 2, .last = 2},
                                         {.bytes = 192, .first = 3, .last = 3}};
  requests.resize(kMany, {.bytes = 0, .first = 9, .last = 9});
  EXPECT_EQ(plan_memory(requests), 192);
}

TEST(MemoryPlanner, ManyNeverOverlapWhileTheyLiveTogether) {
  std::mt19937 random(11);
  std::vector<MemoryRequest> requests(kMany);
  std::vector<std::int64_t> change(kMany + 100);  // of the bytes that live
  int step = 0;
  for (MemoryRequest& request : requests) {
    request.bytes = random() % 5000;
    request.first = step++;
    request.last = request.first + static_cast<int>(random() % 30);
    const auto taken = static_cast<std::int64_t>((request.bytes + 63) / 64 * 64);
    change[static_cast<std::size_t>(request.first)] += taken;
    change[static_cast<std::size_t>(request.last) + 1] -= taken;
  }
  std::int64_t live = 0;
  std::int64_t most = 0;
  for (const std::int64_t by : change) most = std::max(most, live += by);

  const std::size_t arena = plan_memory(requests);

  EXPECT_LE(static_cast<double>(arena), 1.5 * static_cast<double>(most));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].offset % kArenaAlignment, 0);
    EXPECT_LE(requests[i].offset + requests[i].bytes, arena);
    for (std::size_t j = i + 1; j < requests.size() && requests[j].first <= requests[i].last; ++j)
      EXPECT_FALSE(overlap(requests[i], requests[j])) << i << " and " << j;
  }
}

}  // namespace
}  // namespace saccade
