#pragma once

#include <atomic>
#include <cstdint>

namespace saccade::cpu {

/// A counter that threads wait for. A waiting thread spins, then yields its processor to other threads, then sleeps
/// (futex). It sleeps at once if the scheduler has taken its processor away meanwhile: then another program needs it.
class Signal {
 public:
  std::uint32_t value() const { return value_.load(std::memory_order_acquire); }
  /// Without waking anyone; only while no thread waits.
  void reset() { value_.store(0, std::memory_order_relaxed); }

  /// Adds 1. Wakes up to SLEEPERS of the threads that sleep.
  void raise(int sleepers);
  /// Returns when the value differs from SEEN.
  void wait_while(std::uint32_t seen);

 private:
  /// Spins and yields; false if it is time to sleep and the value is still SEEN.
  bool spin_while(std::uint32_t seen) const;

  std::atomic<std::uint32_t> value_{0};
  std::atomic<int> sleepers_{0};
};

}  // namespace saccade::cpu
