#include "measure/team.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace saccade {
namespace {

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

// As long as a scheduler's slice: who yields earlier on a busy machine is away just when the others come.
constexpr double kPatience = 4e-3;  // seconds

/// Spins; lets others run where it takes long, as it does with more threads than CPUs.
template <typename Condition>
void await(const Condition& is_met) {
  const double start = now();
  while (!is_met())
    if (now() - start > kPatience) std::this_thread::yield();
}

}  // namespace

Team::Team(int threads) : windows_(static_cast<std::size_t>(std::max(threads, 1))) {
  for (int rank = 1; rank < threads; ++rank) workers_.emplace_back([this, rank] { serve(rank); });
}

Team::~Team() {
  stop_ = true;
  ++generation_;
  for (std::thread& worker : workers_) worker.join();
}

void Team::serve(int rank) {
  for (int seen = 0;; ++seen) {
    await([&] { return generation_.load(std::memory_order_acquire) != seen; });
    if (stop_) return;
    run(rank);
  }
}

void Team::run(int rank) {
  ++ready_;
  await([&] { return ready_.load(std::memory_order_acquire) == threads(); });
  Window& window = windows_[static_cast<std::size_t>(rank)];
  window.start = now();
  (*work_)(rank);
  window.end = now();
  ++done_;
}

double Team::time(const std::function<void(int rank)>& work) {
  work_ = &work;
  ready_ = 0;
  done_ = 0;
  ++generation_;
  run(0);
  await([&] { return done_.load(std::memory_order_acquire) == threads(); });
  return std::ranges::max(windows_, {}, &Window::end).end - std::ranges::min(windows_, {}, &Window::start).start;
}

}  // namespace saccade
