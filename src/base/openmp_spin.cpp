#include "base/openmp_spin.hpp"

#include <cstdlib>

namespace saccade {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Rounds of a pause each, some 20 ns: longer than most workers wait for each other at a launch's end, and a small part
// of the time that a scheduler gives a process. With 1000 a run alone loses 3 to 7 %, with 5000 two runs at once a fifth
// more than with this: bench/beside_others.py measures it.
constexpr const char* kRounds = "2000";

}  // namespace

BoundedSpin::BoundedSpin() : is_ours_(std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
  if (is_ours_) setenv(kSpinCount, kRounds, 0);
}

BoundedSpin::~BoundedSpin() {
  if (is_ours_) unsetenv(kSpinCount);
}

}  // namespace saccade
