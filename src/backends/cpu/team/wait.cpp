#include "cpu/team/wait.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "base/clock.hpp"

namespace saccade::cpu {
namespace {

using std::chrono::microseconds;

// Longer than most waits between two launches and at the end of one.
constexpr microseconds kSpin{50};
// Yielding costs other threads nothing. Waking a thread that sleeps takes 5 to 50 us.
constexpr microseconds kYield{1000};
// A pause or an undisturbed yield takes less than 2 us. The shortest time slice of another thread takes far more.
constexpr microseconds kDescheduled{50};
constexpr int kPausesPerReading = 32;

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof word == sizeof(std::uint32_t) && std::atomic<std::uint32_t>::is_always_lock_free);
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void Signal::raise(int sleepers) {
  // Sequentially consistent, as in wait_while(): either this thread sees the sleeper, or the sleeper sees the new
  // value.
  value_.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex(value_, FUTEX_WAKE, static_cast<std::uint32_t>(sleepers));
}

bool Signal::spin_while(std::uint32_t seen) const {
  const auto start = Clock::now();
  for (auto before = start;;) {
    if (before - start < kSpin) {
      for (int i = 0; i < kPausesPerReading; ++i) {
        if (value() != seen) return true;
        pause_processor();
      }
    } else {
      sched_yield();
      if (value() != seen) return true;
    }
    const auto now = Clock::now();
    if (now - before > kDescheduled || now - start > kYield) return value() != seen;
    before = now;
  }
}

void Signal::wait_while(std::uint32_t seen) {
  if (spin_while(seen)) return;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (value_.load(std::memory_order_seq_cst) == seen) futex(value_, FUTEX_WAIT, seen);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace saccade::cpu
