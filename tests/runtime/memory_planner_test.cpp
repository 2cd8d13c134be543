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

}  // namespace
}  // namespace saccade
