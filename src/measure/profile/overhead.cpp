#include "measure/profile/overhead.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

std::vector<double> counts_of(std::span<const Nanoseconds> times) {
  std::vector<double> counts;
  counts.reserve(times.size());
  for (const Nanoseconds time : times) counts.push_back(time.count());
  return counts;
}

}  // namespace

double Overhead::expected_share() const { return without.count() > 0 ? events * (per_event / without) : 0; }

Overhead overhead_of(std::span<const Nanoseconds> with, std::span<const Nanoseconds> without, double events,
                     Nanoseconds per_event) {
  if (with.empty() || with.size() != without.size())
    fail(ErrorCode::kInvalidArgument, "{} blocks with and {} without the recorder are no pairs", with.size(),
         without.size());
  const std::vector<double> recorded = counts_of(with);
  const std::vector<double> others = counts_of(without);
  const Estimate ratio = paired_median_ratio({recorded, others});
  return {.with = Nanoseconds(median_of(recorded)),
          .without = Nanoseconds(median_of(others)),
          .share = ratio.value - 1,
          .interval = {ratio.interval.low - 1, ratio.interval.high - 1},
          .events = events,
          .per_event = per_event,
          .blocks = static_cast<int>(with.size())};
}

BlockTimes run_in_turns(const std::function<Nanoseconds(bool recorded)>& block, std::chrono::nanoseconds budget,
                        int min_pairs) {
  BlockTimes times;
  const auto end = Clock::now() + budget;
  for (int pair = 0; pair < min_pairs || Clock::now() < end; ++pair) {
    // The order alternates, so that clock-rate drift favours neither.
    const bool recorded_first = pair % 2 == 0;
    const Nanoseconds first = block(recorded_first);
    const Nanoseconds second = block(!recorded_first);
    times.with.push_back(recorded_first ? first : second);
    times.without.push_back(recorded_first ? second : first);
  }
  return times;
}

}  // namespace saccade
