#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace saccade {
namespace {

TEST(InParallel, DoesEverythingOnce) {
  for (int threads : {0, 1, 3, 64}) {
    std::vector<std::atomic<int>> done(20);
    in_parallel(done.size(), threads, [&](std::size_t i) { ++done[i]; });
    for (const auto& each : done) EXPECT_EQ(each, 1);
  }
}

TEST(InParallel, ThrowsTheFirstOfWhatFails) {
  std::atomic<int> begun = 0;
  try {
    in_parallel(1000, 1, [&](std::size_t i) {
      ++begun;
      if (i >= 3) throw std::runtime_error(std::to_string(i));
    });
    ADD_FAILURE();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "3");
  }
  EXPECT_EQ(begun, 4);
  EXPECT_THROW(in_parallel(8, 4, [](std::size_t) { throw std::runtime_error("all"); }), std::runtime_error);
}

}  // namespace
}  // namespace saccade
