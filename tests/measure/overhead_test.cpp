#include "measure/profile/overhead.hpp"

#include <gtest/gtest.h>

#include "saccade/error.hpp"

namespace saccade {
namespace {

TEST(Overhead, ComparesMedians) {
  // One slow block on either side has no effect.
  const std::vector<Nanoseconds> with = {Nanoseconds(1010), Nanoseconds(1020), Nanoseconds(9000)};
  const std::vector<Nanoseconds> without = {Nanoseconds(5000), Nanoseconds(1000), Nanoseconds(900)};
  const Overhead overhead = overhead_of(with, without, 20, Nanoseconds(0.5));
  EXPECT_EQ(overhead.with, Nanoseconds(1020));
  EXPECT_EQ(overhead.without, Nanoseconds(1000));
  EXPECT_NEAR(overhead.share, 0.02, 1e-12);
  EXPECT_NEAR(overhead.expected_share(), 0.01, 1e-12);
  EXPECT_EQ(overhead.blocks, 3);
  EXPECT_LE(overhead.interval.low, overhead.share);
  EXPECT_GE(overhead.interval.high, overhead.share);
}

TEST(Overhead, NeedsPairs) {
  const std::vector<Nanoseconds> one = {Nanoseconds(1)};
  EXPECT_THROW(overhead_of(one, {}, 1, Nanoseconds(1)), Error);
  EXPECT_THROW(overhead_of({}, {}, 1, Nanoseconds(1)), Error);
}

TEST(Overhead, TakesTurnsWithoutAFavourite) {
  std::string order;
  const auto block = [&](bool recorded) {
    order += recorded ? 'R' : '-';
    return Nanoseconds(recorded ? 2 : 1);
  };
  const BlockTimes times = run_in_turns(block, std::chrono::nanoseconds(0), 4);
  EXPECT_EQ(order, "R--RR--R");
  EXPECT_EQ(times.with, std::vector<Nanoseconds>(4, Nanoseconds(2)));
  EXPECT_EQ(times.without, std::vector<Nanoseconds>(4, Nanoseconds(1)));
}

}  // namespace
}  // namespace saccade
