#include "base/openmp_spin.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace saccade {
namespace {

TEST(BoundedSpin, IsSetWhileALibraryIsLoadedAndNotForChildren) {
  unsetenv("OMP_WAIT_POLICY");
  unsetenv("GOMP_SPINCOUNT");
  {
    const BoundedSpin spin;
    ASSERT_NE(std::getenv("GOMP_SPINCOUNT"), nullptr);
    EXPECT_GT(std::atoi(std::getenv("GOMP_SPINCOUNT")), 0);
  }
  EXPECT_EQ(std::getenv("GOMP_SPINCOUNT"), nullptr);
}

TEST(BoundedSpin, LeavesWhatTheUserHasSet) {
  setenv("GOMP_SPINCOUNT", "7", 1);
  {
    const BoundedSpin spin;
    EXPECT_STREQ(std::getenv("GOMP_SPINCOUNT"), "7");
  }
  EXPECT_STREQ(std::getenv("GOMP_SPINCOUNT"), "7");
  unsetenv("GOMP_SPINCOUNT");
  setenv("OMP_WAIT_POLICY", "active", 1);
  {
    const BoundedSpin spin;
    EXPECT_EQ(std::getenv("GOMP_SPINCOUNT"), nullptr);
  }
  unsetenv("OMP_WAIT_POLICY");
}

}  // namespace
}  // namespace saccade
