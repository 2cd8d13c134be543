#include "base/openmp_spin.hpp"

#include <cstdlib>

namespace saccade {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Rounds of a pause, some 20 ns each. They are longer than most waits at a launch's end, and a small part of a
// scheduler's slice. With 1000 a run alone is 3 to 7 % slower; with 5000 two runs at once keep a fifth less.
// bench/beside_others.py measures it.
constexpr const char* kRounds = "2000";

}  // namespace

BoundedSpin::BoundedSpin() : is_ours_(std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
  if (is_ours_) setenv(kSpinCount, kRounds, 0);
}

BoundedSpin::~BoundedSpin() {
  if (is_ours_) unsetenv(kSpinCount);
}

}  // namespace saccade
