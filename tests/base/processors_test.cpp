#include "base/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "base/control_groups.hpp"
#include "support/group_folder.hpp"

namespace saccade {
namespace {

TEST(Processors, QuotasAreRoundedUp) {
  const test::GroupFolder folder;
  folder.write("cpu.max", "max 100000");
  folder.write("user/cpu.max", "250000 100000");
  folder.write("user/job/cpu.max", "1000 100000");
  const auto limit = [&](const char* groups) { return control_group_processors(folder.root(), groups); };

  EXPECT_EQ(limit("0::/user\n"), 3U);
  EXPECT_EQ(limit("0::/user/job\n"), 1U);
  EXPECT_EQ(limit("0::/user/other\n"), 3U) << "the parent's";
  EXPECT_EQ(limit("0::/\n"), kNoLimit);
}

TEST(Processors, TheFirstVersionHasAGroupOfItsOwnForThem) {
  const test::GroupFolder folder;
  folder.write("cpu/cpu.cfs_quota_us", "-1");
  folder.write("cpu/cpu.cfs_period_us", "100000");
  folder.write("cpu/job/cpu.cfs_quota_us", "200000");
  folder.write("cpu/job/cpu.cfs_period_us", "100000");
  folder.write("memory/job/cpu.cfs_quota_us", "1");
  const auto limit = [&](const char* groups) { return control_group_processors(folder.root(), groups); };

  EXPECT_EQ(limit("5:memory:/job\n4:cpu,cpuacct:/job\n"), 2U);
  EXPECT_EQ(limit("4:cpu,cpuacct:/\n"), kNoLimit);
}

TEST(Processors, FollowTheAffinityOfTheThread) {
  EXPECT_GE(available_processors(), 1);
  std::jthread([] {
    cpu_set_t mask;
    ASSERT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
    EXPECT_EQ(available_processors(), 1);
  });
}

}  // namespace
}  // namespace saccade
