#include "measure/bench/interleave.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>
#include <thread>

#include "measure/statistics/statistics.hpp"

namespace saccade {
namespace {

using std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

constexpr int kFirstRuns = 3;
constexpr Seconds kWarmUpTime{0.3};
// After another engine's turn caches are cold and threads asleep.
constexpr Seconds kBlockWarmUp{0.02};
constexpr int kMostUnmeasured = 50;

nanoseconds process_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

double median_seconds(const Block& block) {
  std::vector<double> seconds;
  for (nanoseconds latency : block.latencies) seconds.push_back(Seconds(latency).count());
  return std::max(median_of(seconds), 1e-9);
}

/// One contender's progress.
class Turn {
 public:
  Turn(Contender& contender, bool alone, const InterleaveOptions& options)
      : contender_(contender), alone_(alone), options_(options) {}

  void warm_up() {
    guarded([this] {
      double run = median_seconds(contender_.run(0, kFirstRuns));
      series_.warm_up = kFirstRuns;
      if (const int more = static_cast<int>(std::ceil(kWarmUpTime.count() / run)) - kFirstRuns; more > 0) {
        run = median_seconds(contender_.run(0, more));
        series_.warm_up += more;
      }
      const double wanted = std::max<double>(options_.runs, options_.seconds / run);
      runs_ = std::max(1, static_cast<int>(std::ceil(wanted / options_.blocks)));
      if (!alone_) series_.unmeasured = std::clamp(static_cast<int>(kBlockWarmUp.count() / run), 1, kMostUnmeasured);
    });
  }

  void take_block() {
    guarded([this] {
      Block block = contender_.run(series_.unmeasured, runs_);
      done_runs_ += block.latencies.size();
      done_time_ += block.wall;
      series_.blocks.push_back(std::move(block));
    });
  }

  /// 1 if it has completed everything requested.
  double share() const {
    if (series_.failure) return 1;
    const auto part = [](double done, double wanted) { return wanted > 0 ? done / wanted : 1; };
    return std::min({1.0, part(static_cast<double>(series_.blocks.size()), options_.blocks),
                     part(static_cast<double>(done_runs_), options_.runs),
                     part(Seconds(done_time_).count(), options_.seconds)});
  }

  Series take() { return std::move(series_); }

 private:
  template <typename Work>
  void guarded(const Work& work) {
    if (series_.failure) return;
    try {
      work();
      if (!alone_) contender_.wait_until_idle();
    } catch (const Error& error) {
      series_.failure = error;
    }
  }

  Contender& contender_;
  bool alone_;
  const InterleaveOptions& options_;
  Series series_;
  int runs_ = 1;
  std::size_t done_runs_ = 0;
  nanoseconds done_time_{};
};

/// Fisher-Yates shuffle, equal on every machine.
void shuffle(std::vector<Turn*>& turns, std::mt19937_64& generator) {
  for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[generator() % i]);
}

}  // namespace

std::vector<nanoseconds> Series::latencies() const {
  std::vector<nanoseconds> all;
  for (const Block& block : blocks) all.insert(all.end(), block.latencies.begin(), block.latencies.end());
  return all;
}

std::vector<double> Series::medians_ms() const {
  std::vector<double> medians;
  for (const Block& block : blocks) medians.push_back(median_seconds(block) * 1e3);
  return medians;
}

double Series::throughput() const {
  Seconds wall{};
  std::size_t runs = 0;
  for (const Block& block : blocks) {
    wall += block.wall;
    runs += block.latencies.size();
  }
  return wall.count() > 0 ? static_cast<double>(runs) / wall.count() : 0;
}

Series joined(std::span<const Series> loads) {
  Series all;
  for (const Series& load : loads) {
    all.blocks.insert(all.blocks.end(), load.blocks.begin(), load.blocks.end());
    all.warm_up += load.warm_up;
    all.unmeasured = std::max(all.unmeasured, load.unmeasured);
    if (load.failure) all.failure = load.failure;
  }
  return all;
}

std::vector<Series> interleave(std::span<Contender* const> contenders, const InterleaveOptions& options,
                               const std::function<void(double share)>& progress) {
  std::vector<Turn> turns;
  for (Contender* contender : contenders) turns.emplace_back(*contender, contenders.size() == 1, options);
  std::vector<Turn*> order;
  order.reserve(turns.size());
  for (Turn& turn : turns) order.push_back(&turn);
  for (Turn& turn : turns) turn.warm_up();
  std::mt19937_64 generator(options.seed);
  for (double least = 0; least < 1;) {
    shuffle(order, generator);
    for (Turn* turn : order) turn->take_block();
    least = std::ranges::min_element(turns, {}, &Turn::share)->share();
    if (progress) progress(least);
  }
  std::vector<Series> all;
  all.reserve(turns.size());
  for (Turn& turn : turns) all.push_back(turn.take());
  return all;
}

void wait_until_idle() {
  constexpr auto kPause = std::chrono::milliseconds(4);
  constexpr auto kIdle = std::chrono::microseconds(200);
  for (int i = 0; i < 125; ++i) {
    const nanoseconds before = process_time();
    std::this_thread::sleep_for(kPause);
    if (process_time() - before < kIdle) return;
  }
}

}  // namespace saccade
