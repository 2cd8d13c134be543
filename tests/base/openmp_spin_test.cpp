#include "base/openmp_spin.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/module.hpp"

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

/// Later modules leave the environment alone, which threads may read by then.
TEST(BoundedSpin, TheFirstModuleLoadsOpenMp) {
  open_module("images");
  EXPECT_NE(dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace saccade
