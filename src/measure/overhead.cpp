#include "measure/overhead.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace saccade {
namespace {

Nanoseconds median(std::span<const Nanoseconds> times) {
  std::vector<Nanoseconds> sorted(times.begin(), times.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace

double Overhead::expected_share() const { return without.count() > 0 ? events * (per_event / without) : 0; }

Overhead overhead_of(std::span<const Nanoseconds> with, std::span<const Nanoseconds> without, double events,
                     Nanoseconds per_event) {
  if (with.empty() || with.size() != without.size())
    fail(ErrorCode::kInvalidArgument, "{} blocks with and {} without the recorder are no pairs", with.size(),
         without.size());
  Overhead overhead{.with = median(with), .without = median(without), .events = events, .per_event = per_event};
  overhead.blocks = static_cast<int>(with.size());
  if (overhead.without.count() > 0) overhead.share = overhead.with / overhead.without - 1;
  return overhead;
}

BlockTimes run_in_turns(const std::function<Nanoseconds(bool recorded)>& block, std::chrono::nanoseconds budget,
                        int min_pairs) {
  BlockTimes times;
  const auto end = Clock::now() + budget;
  for (int pair = 0; pair < min_pairs || Clock::now() < end; ++pair) {
    // Who is first changes from pair to pair, so that a drift of the clock rate favours neither.
    const bool recorded_first = pair % 2 == 0;
    const Nanoseconds first = block(recorded_first);
    const Nanoseconds second = block(!recorded_first);
    times.with.push_back(recorded_first ? first : second);
    times.without.push_back(recorded_first ? second : first);
  }
  return times;
}

}  // namespace saccade
