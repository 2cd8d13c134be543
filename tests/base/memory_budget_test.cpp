#include "base/memory_budget.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.hpp"
#include "support/group_folder.hpp"

namespace saccade {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

class ControlGroup : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { folder_.write(path, text); }
  std::size_t limit(const char* groups) const { return control_group_limit(folder_.root(), groups); }
  std::size_t room(const char* groups) const { return control_group_room(folder_.root(), groups); }

 private:
  test::GroupFolder folder_;
};

TEST_F(ControlGroup, TheLeastLimitOnTheWayToTheRootCounts) {
  write("memory.max", "max");
  write("user/memory.max", "3000");
  write("user/job/memory.max", "5000");

  EXPECT_EQ(limit("0::/user/job\n"), 3000U);
  EXPECT_EQ(limit("0::/other\n"), kUnlimited);
}

TEST_F(ControlGroup, TheFirstVersionHasAMemoryGroupOfItsOwn) {
  write("memory/memory.limit_in_bytes", "9000");
  write("memory/job/memory.limit_in_bytes", "7000");
  write("cpu/job/memory.limit_in_bytes", "1");

  EXPECT_EQ(limit("12:cpu,cpuacct:/job\n4:memory:/job\n0::/\n"), 7000U);
}

TEST_F(ControlGroup, MemoryInUseIsNotFree) {
  write("user/memory.max", "3000");
  write("user/memory.current", "1000");
  write("user/job/memory.max", "2500");
  write("user/job/memory.current", "900");
  write("user/job/memory.stat", "anon 1\nactive_file 7\ninactive_file 400");

  EXPECT_EQ(room("0::/user\n"), 2000U);
  EXPECT_EQ(room("0::/user/job\n"), 2000U) << "cached files, which are given up for others, leave 2000 of 2500";
  EXPECT_EQ(room("0::/other\n"), kUnlimited);
}

TEST_F(ControlGroup, VersionOneHasItsOwnFiles) {
  write("memory/job/memory.limit_in_bytes", "7000");
  write("memory/job/memory.usage_in_bytes", "9000");
  write("memory/job/memory.stat", "total_inactive_file 4000");

  EXPECT_EQ(room("4:memory:/job\n"), 2000U);
}

TEST_F(ControlGroup, InvalidLinesAreNoLimit) {
  EXPECT_EQ(limit(""), kUnlimited);
  EXPECT_EQ(limit("nonsense\n1:memory\n"), kUnlimited);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitBesideWhatIsTaken) {
  MemoryBudget budget(1000);
  budget.take(600);
  budget.check(400);

  try {
    budget.take(401);
    FAIL() << "401 of 400 bytes were given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_STREQ(error.what(),
                 "it needs 401 bytes, but of the model's limit of 1000 bytes only 400 bytes are left; raise it with "
                 "--max-model-memory SIZE");
  }
  budget.take(400);
  EXPECT_THROW(budget.take(1), Error);
  try {
    MemoryBudget(1000).take(1001);
    FAIL() << "1001 of 1000 bytes were given";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "it needs 1001 bytes, but the model's limit is 1000 bytes; raise it with --max-model-memory SIZE");
  }
  EXPECT_THROW(budget.take(kUnlimited), Error);
}

TEST(MemoryBudget, WhatIsFreeIsLessThanThereIs) {
  EXPECT_GT(free_memory(), 0U);
  EXPECT_LT(free_memory(), kUnlimited / 2);
}

TEST(MemoryBudget, HasALimitOfItsOwnWhereNoneIsGiven) {
  EXPECT_GT(default_memory_limit(), 0U);
  EXPECT_LT(default_memory_limit(), kUnlimited / 2);
  EXPECT_THROW(MemoryBudget().check(kUnlimited), Error);
}

}  // namespace
}  // namespace saccade
