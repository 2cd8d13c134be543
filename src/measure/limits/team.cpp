#include "measure/limits/team.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// Longer than waking a thread takes, far shorter than a scheduler's time slice.
constexpr double kPatience = 2e-4;  // seconds

/// Spins for a moment, then sleeps, until IS_MET(value).
template <typename Condition>
void await(const std::atomic<int>& value, const Condition& is_met) {
  const double start = now();
  for (int seen = value.load(); !is_met(seen); seen = value.load())
    if (now() - start > kPatience) value.wait(seen);
}

}  // namespace

Team::Team(int threads) : spans_(static_cast<std::size_t>(std::max(threads, 1))) {
  sched_getaffinity(0, sizeof allowed_, &allowed_);
  try {
    for (int rank = 1; rank < threads; ++rank) workers_.emplace_back([this, rank] { serve(rank); });
  } catch (const std::system_error& error) {
    end();
    fail(ErrorCode::kUnsupported, "{} threads can't be started ({}): use fewer with --threads N", threads,
         error.code().message());
  }
  if (threads > 1) stay_on_cpu(0);
}

void Team::end() {
  stop_ = true;
  ++generation_;
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Team::~Team() {
  end();
  if (!workers_.empty()) sched_setaffinity(0, sizeof allowed_, &allowed_);
}

void Team::stay_on_cpu(int rank) const {
  if (CPU_COUNT(&allowed_) < static_cast<int>(spans_.size())) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed_) || rank-- > 0) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
    return;
  }
}

void Team::serve(int rank) {
  stay_on_cpu(rank);
  for (int seen = 0;; ++seen) {
    await(generation_, [seen](int generation) { return generation != seen; });
    if (stop_) return;
    run(rank);
  }
}

void Team::meet(std::atomic<int>& count) {
  ++count;
  count.notify_all();
  await(count, [this](int value) { return value >= threads(); });
}

void Team::run(int rank) {
  // Two barriers: first all threads get a CPU, then all start together, without sleeping in between.
  meet(awake_);
  meet(ready_);
  for (Span& span : spans_[static_cast<std::size_t>(rank)]) {
    span.start = now();
    (*work_)(rank);
    span.end = now();
  }
  ++done_;
  done_.notify_all();
}

double Team::time(int windows, const std::function<void(int rank)>& work) {
  work_ = &work;
  for (auto& spans : spans_) spans.resize(static_cast<std::size_t>(windows));
  awake_ = ready_ = done_ = 0;
  ++generation_;
  generation_.notify_all();
  run(0);
  await(done_, [this](int value) { return value >= threads(); });
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t window = 0; window < static_cast<std::size_t>(windows); ++window) {
    Span whole = spans_[0][window];
    for (const auto& spans : spans_)
      whole = {std::min(whole.start, spans[window].start), std::max(whole.end, spans[window].end)};
    best = std::min(best, whole.end - whole.start);
  }
  return best;
}

}  // namespace saccade
