#pragma once

namespace saccade {

/// While it lives, the environment tells OpenMP's library, which reads it when it is loaded, to have idle workers spin
/// for microseconds before they sleep. Its own choice is milliseconds: where another process has a worker's core, those
/// that wait for it burn the time that it needs. What the user has set (OMP_WAIT_POLICY, GOMP_SPINCOUNT) stays. Must
/// not overlap with other threads' getenv().
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
