#include "base/openmp_spin.hpp"

#include <cstdlib>

namespace saccade {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Rounds of a pause of some 20 ns each: longer than most waits at the end of a launch, and a small part of a
// scheduler's time slice. With 1000 a single run is 3 to 7 % slower; with 5000 two concurrent runs lose a fifth of
// throughput. bench/beside_others.py measures it.
constexpr const char* kRounds = "2000";

}  // namespace

BoundedSpin::BoundedSpin() : is_ours_(std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
  if (is_ours_) setenv(kSpinCount, kRounds, 0);
}

BoundedSpin::~BoundedSpin() {
  if (is_ours_) unsetenv(kSpinCount);
}

}  // namespace saccade
