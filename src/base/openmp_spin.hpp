#pragma once

namespace saccade {

/// While it exists, the environment makes OpenMP's library, which reads it when it is loaded, let idle workers spin for
/// microseconds before they sleep. Its default is milliseconds: workers that wait for a descheduled one would then burn
/// the time that the other process needs. The user's settings (OMP_WAIT_POLICY, GOMP_SPINCOUNT) are kept. Must not
/// overlap with other threads' getenv(), which a change of the environment makes crash.
class BoundedSpin {
 public:
  BoundedSpin();
  ~BoundedSpin();
  BoundedSpin(const BoundedSpin&) = delete;
  BoundedSpin& operator=(const BoundedSpin&) = delete;

 private:
  bool is_ours_;
};

}  // namespace saccade
