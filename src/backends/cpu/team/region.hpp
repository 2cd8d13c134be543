#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "cpu/team/wait.hpp"

namespace saccade::cpu {

/// Ranks of a parallel region at most.
constexpr int kMaxRanks = 4096;

/// A function that runs once per rank.
struct RankBody {
  void (*run)(void* data, int rank) = nullptr;
  void* data = nullptr;
};

/// How the ranks of a region depend on each other.
enum class Ranks : std::uint8_t {
  kAll,  ///< every rank runs exactly once; ranks may wait for each other (oneDNN's primitives)
  kAny,  ///< rank 0 does what the others leave; they need not run (parallel_for())
};

/// What the calling thread runs: a rank of a region, or serial code.
struct CurrentRank {
  int rank = 0;
  int ranks = 1;
  bool is_nested = false;  ///< one rank of a region in a region
  Signal* barrier = nullptr;
  std::atomic<int>* arrived = nullptr;
};
CurrentRank& current_rank();
inline bool in_region() { return current_rank().ranks > 1 || current_rank().is_nested; }
/// Waits until all ranks of the calling thread's region have called it.
void wait_at_barrier();

/// A parallel region: its owner opens it, runs rank 0, then the ranks that no worker has begun, and closes it. Workers
/// join while it is open. Used for one region after another; never freed, so that a late worker may look at it.
class Region {
 public:
  /// For one owner at a time; false if another has it.
  bool acquire() { return !is_taken_.exchange(true, std::memory_order_acquire); }
  void release() { is_taken_.store(false, std::memory_order_release); }

  /// The owner's part. NOTIFY is called when workers may join.
  template <typename Notify>
  void run(Ranks kind, int ranks, RankBody body, const Notify& notify) {
    open(kind, ranks, body);
    notify();
    finish();
  }

  /// The number of the open region that still has a rank to begin; 0 if there is none.
  std::uint32_t joinable() const;
  /// Whether ranks of it may wait for ranks that only further workers can run.
  bool needs_workers() const { return needs_workers_.load(std::memory_order_relaxed); }
  /// Runs ranks of region NUMBER, PREFERRED first, until none is left; false if it has no rank left or is closed.
  bool join(std::uint32_t number, int preferred);

 private:
  void open(Ranks kind, int ranks, RankBody body);
  void finish();
  /// An exception would unwind a frame that workers use.
  void run_rank(int rank) noexcept;
  bool begin(int rank);
  /// A rank that has not begun, from FIRST on; -1 if there is none.
  int begin_any(int first);

  // The number of the region and how many workers have joined it. A closed region has kClosed set.
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 31;
  static constexpr std::uint64_t kWorkers = kClosed - 1;

  std::atomic<bool> is_taken_{false};
  alignas(64) std::atomic<std::uint64_t> state_{kClosed};
  std::atomic<int> unbegun_{0};
  std::array<std::atomic<std::uint64_t>, kMaxRanks / 64> begun_{};
  std::atomic<bool> needs_workers_{false};
  std::atomic<bool> met_nan_{false};
  // Written while the region is closed.
  Ranks kind_ = Ranks::kAll;
  int ranks_ = 0;
  RankBody body_;
  alignas(64) Signal left_;  ///< raised by each worker that leaves
  alignas(64) Signal barrier_;
  std::atomic<int> arrived_{0};
};

}  // namespace saccade::cpu
