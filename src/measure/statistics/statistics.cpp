#include "measure/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>

#include "base/error.hpp"

namespace saccade {
namespace {

using std::chrono::nanoseconds;

/// The smallest sample that is not exceeded by PERCENT of all.
nanoseconds nearest_rank(std::span<const nanoseconds> sorted, double percent) {
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

/// The median; reorders VALUES.
double take_median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Draws resamples of blocks.
class Resampler {
 public:
  explicit Resampler(std::uint64_t seed) : generator_(seed) {}

  /// COUNT indices among COUNT blocks, in runs of neighbours. Valid until the next call.
  std::span<const std::size_t> draw(std::size_t count) {
    places_.clear();
    const auto length = static_cast<std::size_t>(std::max(1L, std::lround(std::cbrt(static_cast<double>(count)))));
    while (places_.size() < count) {
      // The engine is portable; the standard distributions are not.
      const std::size_t start = generator_() % count;
      for (std::size_t i = 0; i < length && places_.size() < count; ++i) places_.push_back((start + i) % count);
    }
    return places_;
  }

  /// The median of BLOCKS at PLACES.
  double median_at(std::span<const double> blocks, std::span<const std::size_t> places) {
    values_.clear();
    for (std::size_t place : places) values_.push_back(blocks[place]);
    return take_median(values_);
  }

  double median(std::span<const double> blocks) { return median_at(blocks, draw(blocks.size())); }

  double paired_ratio(const BlockPair& pair) {
    const auto places = draw(pair.numerator.size());
    return median_at(pair.numerator, places) / median_at(pair.denominator, places);
  }

 private:
  std::mt19937_64 generator_;
  std::vector<std::size_t> places_;
  std::vector<double> values_;
};

/// The percentile interval of DRAW's results.
Interval interval_of(const BootstrapOptions& options, const std::function<double(Resampler&)>& draw) {
  Resampler resampler(options.seed);
  std::vector<double> drawn;
  drawn.reserve(static_cast<std::size_t>(options.resamples));
  for (int i = 0; i < options.resamples; ++i) drawn.push_back(draw(resampler));
  std::ranges::sort(drawn);
  const double outside = (1 - options.confidence) / 2;
  const auto last = static_cast<double>(drawn.size() - 1);
  return {drawn[static_cast<std::size_t>(std::floor(outside * last))],
          drawn[static_cast<std::size_t>(std::ceil((1 - outside) * last))]};
}

void check(const BlockPair& pair, bool taken_together) {
  if (pair.numerator.empty() || pair.denominator.empty())
    fail(ErrorCode::kInvalidArgument, "there are no blocks to compare");
  if (taken_together && pair.numerator.size() != pair.denominator.size())
    fail(ErrorCode::kInvalidArgument, "{} blocks can't be paired with {}", pair.numerator.size(),
         pair.denominator.size());
}

/// The spread of the logarithms of loads' medians: the sum of squared deviations, and its degrees of freedom.
struct Spread {
  double squares = 0;
  int degrees = 0;

  void add(const LoadMedians& loads) {
    std::vector<double> logarithms;
    for (const auto& load : loads) logarithms.push_back(std::log(median_of(load)));
    const double mean = std::reduce(logarithms.begin(), logarithms.end()) / static_cast<double>(logarithms.size());
    for (double logarithm : logarithms) squares += std::pow(logarithm - mean, 2);
    degrees += static_cast<int>(loads.size()) - 1;
  }
};

/// The integral of Student's density with DEGREES of freedom from 0 to X, by Simpson's rule.
double student_area(double x, int degrees) {
  constexpr int kParts = 1000;
  const double n = degrees;
  const double peak = std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::numbers::pi);
  const auto density = [&](double t) { return peak * std::pow(1 + t * t / n, -(n + 1) / 2); };
  double sum = density(0) + density(x);
  for (int i = 1; i < kParts; ++i) sum += density(x * i / kParts) * (i % 2 == 0 ? 2 : 4);
  return sum * x / kParts / 3;
}

/// The two-sided quantile of Student's distribution for CONFIDENCE.
double student_quantile(double confidence, int degrees) {
  double low = 0;
  double high = 1;
  while (student_area(high, degrees) < confidence / 2 && high < 1e6) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_area(middle, degrees) < confidence / 2 ? low : high) = middle;
  }
  return high;
}

/// ESTIMATE with its interval widened to the expected distance of two loads.
Estimate widened(Estimate estimate, const Spread& spread, double confidence) {
  if (spread.degrees == 0) return estimate;
  const double deviation = std::sqrt(2 * spread.squares / spread.degrees);
  const double factor = std::exp(student_quantile(confidence, spread.degrees) * deviation);
  estimate.interval.low = std::min(estimate.interval.low, estimate.value / factor);
  estimate.interval.high = std::max(estimate.interval.high, estimate.value * factor);
  return estimate;
}

double ratio_of(const BlockPair& pair) { return median_of(pair.numerator) / median_of(pair.denominator); }

}  // namespace

Distribution distribution_of(std::span<const nanoseconds> samples) {
  if (samples.empty()) return {};
  std::vector<nanoseconds> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  double sum = 0;
  for (nanoseconds sample : sorted) sum += static_cast<double>(sample.count());
  const double mean = sum / static_cast<double>(sorted.size());
  double squares = 0;
  for (nanoseconds sample : sorted) squares += std::pow(static_cast<double>(sample.count()) - mean, 2);
  return {.count = static_cast<std::int64_t>(sorted.size()),
          .min = sorted.front(),
          .mean = nanoseconds(std::llround(mean)),
          .deviation = nanoseconds(std::llround(std::sqrt(squares / static_cast<double>(sorted.size())))),
          .p50 = nearest_rank(sorted, 50),
          .p90 = nearest_rank(sorted, 90),
          .p95 = nearest_rank(sorted, 95),
          .p99 = nearest_rank(sorted, 99),
          .max = sorted.back()};
}

double median_of(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> copy(values.begin(), values.end());
  return take_median(copy);
}

std::vector<double> flattened(const LoadMedians& loads) {
  std::vector<double> all;
  for (const auto& load : loads) all.insert(all.end(), load.begin(), load.end());
  return all;
}

Estimate repeated_median(const LoadMedians& loads, const BootstrapOptions& options) {
  const std::vector<double> blocks = flattened(loads);
  if (blocks.empty()) fail(ErrorCode::kInvalidArgument, "there are no blocks to take the median of");
  const double median = median_of(blocks);
  const Interval interval = interval_of(options, [&](Resampler& resampler) {
    const double once = resampler.median(blocks);
    return median * once / resampler.median(blocks);
  });
  Spread spread;
  spread.add(loads);
  return widened({median, interval}, spread, options.confidence);
}

Estimate paired_median_ratio(const BlockPair& blocks, const BootstrapOptions& options) {
  check(blocks, true);
  return {ratio_of(blocks), interval_of(options, [&](Resampler& resampler) { return resampler.paired_ratio(blocks); })};
}

Estimate median_ratio(const LoadMedians& numerator, const LoadMedians& denominator, const BootstrapOptions& options) {
  const std::vector<double> above = flattened(numerator);
  const std::vector<double> below = flattened(denominator);
  const BlockPair blocks{above, below};
  check(blocks, false);
  const Interval interval = interval_of(options, [&](Resampler& resampler) {
    const double drawn = resampler.median(above);
    return drawn / resampler.median(below);
  });
  Spread spread;
  spread.add(numerator);
  spread.add(denominator);
  return widened({ratio_of(blocks), interval}, spread, options.confidence);
}

Estimate geometric_mean_ratio(std::span<const BlockPair> pairs, const BootstrapOptions& options) {
  if (pairs.empty()) fail(ErrorCode::kInvalidArgument, "there are no ratios to take the mean of");
  for (const BlockPair& pair : pairs) check(pair, true);
  const auto mean = [&](const auto& ratio) {
    double logarithms = 0;
    for (const BlockPair& pair : pairs) logarithms += std::log(ratio(pair));
    return std::exp(logarithms / static_cast<double>(pairs.size()));
  };
  return {mean(ratio_of), interval_of(options, [&](Resampler& resampler) {
            return mean([&](const BlockPair& pair) { return resampler.paired_ratio(pair); });
          })};
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster: return "faster";
    case Verdict::kSlower: return "slower";
    default: return "same";
  }
}

Verdict verdict_of(const Estimate& ratio, double tolerance) {
  if (ratio.interval.contains(1)) return Verdict::kSame;
  if (ratio.value > 1 + tolerance) return Verdict::kSlower;
  return ratio.value < 1 - tolerance ? Verdict::kFaster : Verdict::kSame;
}

}  // namespace saccade
