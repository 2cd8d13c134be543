#include "base/openmp_spin.hpp"

#include <cstdlib>

namespace saccade {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Rounds of a pause each, some 20 ns: longer than most workers wait for each other at a launch's end, and a small part
// of the time that a scheduler gives a process. bench/beside_others.py measures it.
constexpr const char* kRounds = "1000";

}  // namespace

BoundedSpin::BoundedSpin() : is_ours_(std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
  if (is_ours_) setenv(kSpinCount, kRounds, 0);
}

BoundedSpin::~BoundedSpin() {
  if (is_ours_) unsetenv(kSpinCount);
}

}  // namespace saccade
