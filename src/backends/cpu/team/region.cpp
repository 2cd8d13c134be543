#include "cpu/team/region.hpp"

#include <cfenv>
#include <limits>
#include <utility>

#include "cpu/team/nan_watch.hpp"

namespace saccade::cpu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

constexpr std::uint32_t number_of(std::uint64_t state) { return static_cast<std::uint32_t>(state >> 32); }

}  // namespace

CurrentRank& current_rank() {
  thread_local CurrentRank current;
  return current;
}

void wait_at_barrier() {
  const CurrentRank& current = current_rank();
  if (current.ranks == 1) return;
  const std::uint32_t seen = current.barrier->value();
  if (current.arrived->fetch_add(1, std::memory_order_acq_rel) + 1 < current.ranks) {
    current.barrier->wait_while(seen);
    return;
  }
  current.arrived->store(0, kRelaxed);
  current.barrier->raise(std::numeric_limits<int>::max());
}

void Region::open(Ranks kind, int ranks, RankBody body) {
  kind_ = kind;
  ranks_ = ranks;
  body_ = body;
  for (int i = 0; i < (ranks + 63) / 64; ++i) begun_[static_cast<std::size_t>(i)].store(0, kRelaxed);
  begin(0);
  unbegun_.store(ranks - 1, kRelaxed);
  needs_workers_.store(kind == Ranks::kAll && ranks > 2, kRelaxed);
  met_nan_.store(false, kRelaxed);
  left_.reset();
  // 0 is no number.
  std::uint64_t number = std::uint64_t{number_of(state_.load(kRelaxed))} + 1;
  if (number > std::numeric_limits<std::uint32_t>::max()) number = 1;
  state_.store(number << 32, std::memory_order_release);
}

void Region::finish() {
  run_rank(0);
  if (kind_ == Ranks::kAll)
    for (int rank = begin_any(1); rank >= 0; rank = begin_any(1)) run_rank(rank);
  const std::uint64_t state = state_.fetch_or(kClosed, std::memory_order_acq_rel);
  const auto joined = static_cast<std::uint32_t>(state & kWorkers);
  for (std::uint32_t left = left_.value(); left != joined; left = left_.value()) left_.wait_while(left);
  // As if the owner had computed it all.
  if (met_nan_.load(kRelaxed)) std::feraiseexcept(FE_INVALID);
}

std::uint32_t Region::joinable() const {
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  if ((state & kClosed) != 0 || unbegun_.load(kRelaxed) <= 0) return 0;
  return number_of(state);
}

bool Region::join(std::uint32_t number, int preferred) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  do {
    if (number_of(state) != number || (state & kClosed) != 0) return false;
  } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  bool has_run = false;
  const int first = 1 + (preferred - 1) % (ranks_ - 1);
  for (int rank = begin_any(first); rank >= 0; rank = begin_any(first)) {
    run_rank(rank);
    has_run = true;
    // The flag of a worker is clear between ranks. Those of parallel_for() keep their NaN.
    if (take_note() && kind_ == Ranks::kAll) met_nan_.store(true, kRelaxed);
  }
  left_.raise(1);
  return has_run;
}

void Region::run_rank(int rank) noexcept {
  CurrentRank& current = current_rank();
  const CurrentRank before =
      std::exchange(current, {.rank = rank, .ranks = ranks_, .barrier = &barrier_, .arrived = &arrived_});
  body_.run(body_.data, rank);
  current = before;
}

bool Region::begin(int rank) {
  const std::uint64_t bit = std::uint64_t{1} << (rank % 64);
  return (begun_[static_cast<std::size_t>(rank / 64)].fetch_or(bit, kRelaxed) & bit) == 0;
}

int Region::begin_any(int first) {
  for (int i = 0; i < ranks_ - 1 && unbegun_.load(kRelaxed) > 0; ++i) {
    const int rank = 1 + (first - 1 + i) % (ranks_ - 1);
    if (!begin(rank)) continue;
    unbegun_.fetch_sub(1, kRelaxed);
    return rank;
  }
  return -1;
}

}  // namespace saccade::cpu
