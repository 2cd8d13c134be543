#include "cpu/team/team.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "cpu/team/foreign_openmp.hpp"
#include "cpu/team/nan_watch.hpp"

namespace saccade::cpu {
namespace {

/// Concurrent regions at most; further owners wait.
constexpr std::size_t kRegions = 64;

thread_local int ranks_of_thread = 1;

/// Blocks the calling thread's signals except for faults: threads that it starts leave them to the program's own
/// threads, whose handlers may expect to interrupt what they clean up.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

class Team {
 public:
  /// Never destroyed: workers may run while the process exits.
  static Team& of_process() { return *place(); }

  void grow(int workers) {
    if (workers <= workers_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock(mutex_);
    const SignalsBlocked blocked;
    for (int index = workers_.load(std::memory_order_relaxed); index < workers; ++index) {
      std::thread([this, index] { serve(index + 1); }).detach();
      workers_.store(index + 1, std::memory_order_release);
    }
  }

  void run(Ranks kind, int ranks, RankBody body) {
    Region& region = acquire();
    region.run(kind, ranks, body, [&] { work_.raise(ranks - 1); });
    region.release();
  }

 private:
  static std::atomic<Team*>& place() {
    static std::atomic<Team*>& team = *new std::atomic<Team*>(first());
    return team;
  }

  static Team* first() {
    // A child after fork() has no workers, and locks and regions may be those of threads that it does not have.
    pthread_atfork(nullptr, nullptr, [] {
      place() = new Team;
      current_rank() = {};
    });
    return new Team;
  }

  Region& acquire() {
    // The last one, which is warm in this processor's cache.
    thread_local std::size_t last = 0;
    for (std::size_t i = last;; i = (i + 1) % kRegions) {
      if (regions_[i].acquire()) {
        last = i;
        std::size_t used = used_.load(std::memory_order_relaxed);
        while (used <= i && !used_.compare_exchange_weak(used, i + 1, std::memory_order_release)) {
        }
        return regions_[i];
      }
      if ((i + 1) % kRegions == last) sched_yield();
    }
  }

  void serve(int rank) {
    take_note();     // a new thread inherits the flags of its creator
    current_rank();  // allocates the thread's storage of this module now, not in the first region that it helps
    std::size_t next = 0;
    for (;;) {
      const std::uint32_t seen = work_.value();
      if (!help(rank, next)) work_.wait_while(seen);
    }
  }

  /// Joins a region. NEXT: where to look first, so that owners are helped in turn.
  bool help(int rank, std::size_t& next) {
    const std::size_t used = used_.load(std::memory_order_acquire);
    // The region that waits for workers comes first: workers divided among several of them would wait for ever.
    std::uint64_t waiting = waiting_.load(std::memory_order_acquire);
    if (waiting != 0) {
      if (join(waiting, rank)) return true;
      waiting_.compare_exchange_strong(waiting, 0, std::memory_order_acq_rel);
    }
    for (std::size_t i = 0; i < used; ++i) {
      const std::size_t index = (next + i) % used;
      const std::uint32_t number = regions_[index].joinable();
      if (number == 0) continue;
      const std::uint64_t candidate = std::uint64_t{number} << 32 | index;
      if (regions_[index].needs_workers()) {
        std::uint64_t none = 0;
        // Another one has begun meanwhile: it comes first.
        if (!waiting_.compare_exchange_strong(none, candidate, std::memory_order_acq_rel)) return true;
      }
      if (!join(candidate, rank)) continue;
      next = index + 1;
      return true;
    }
    return false;
  }

  bool join(std::uint64_t candidate, int rank) {
    return regions_[candidate & 0xFFFF'FFFFU].join(static_cast<std::uint32_t>(candidate >> 32), rank);
  }

  std::mutex mutex_;
  std::atomic<int> workers_{0};
  std::atomic<std::size_t> used_{0};  ///< regions from here on were never open
  alignas(64) Signal work_;           ///< raised when a region opens
  /// The region that workers have joined and that needs further ones: its number and, in the low half, its index.
  alignas(64) std::atomic<std::uint64_t> waiting_{0};
  std::array<Region, kRegions> regions_;
};

}  // namespace

void set_team_size(int threads) {
  threads = std::max(threads, 1);
  if (threads > kMaxRanks)
    fail(ErrorCode::kUnsupported, "{} threads are too many; take at most {} with --threads N", threads, kMaxRanks);
  try {
    Team::of_process().grow(threads - 1);
  } catch (const std::exception&) {  // std::system_error or std::bad_alloc
    fail(ErrorCode::kUnsupported,
         "{} threads can't be started: memory or the limit of processes is used up; take fewer with --threads N",
         threads);
  }
  ranks_of_thread = threads;
  if (const ForeignOpenMp* foreign = foreign_openmp()) foreign->set_num_threads(threads);
}

int team_size() { return ranks_of_thread; }

void run_region(Ranks kind, int ranks, RankBody body) {
  if (ranks > 1 && !in_region()) {
    Team::of_process().run(kind, std::min(ranks, kMaxRanks), body);
    return;
  }
  CurrentRank& current = current_rank();
  const CurrentRank before = std::exchange(current, {.is_nested = in_region()});
  body.run(body.data, 0);
  current = before;
}

}  // namespace saccade::cpu
