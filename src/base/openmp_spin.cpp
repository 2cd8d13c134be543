#include "base/openmp_spin.hpp"

#include <cstdlib>

namespace saccade {
namespace {

constexpr const char* kSpinCount = "GOMP_SPINCOUNT";
// Rounds of a pause of some 20 ns each: longer than most waits at the end of a launch, and a small part of a
// scheduler's time slice. Of 600, 1000, 1500, 2000 and 3000, two concurrent runs of yolox_nano keep 0.50, 0.46, 0.42,
// 0.37 and 0.30 each of one alone. A single run at 1000 is 1 % slower than at 2000. bench/beside_others.py measures it.
constexpr const char* kRounds = "1200";

}  // namespace

BoundedSpin::BoundedSpin() : is_ours_(std::getenv(kSpinCount) == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr) {
  if (is_ours_) setenv(kSpinCount, kRounds, 0);
}

BoundedSpin::~BoundedSpin() {
  if (is_ours_) unsetenv(kSpinCount);
}

}  // namespace saccade
