#include "validate/resample.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace saccade {

Resampled paired_difference(const Headline& a, const Headline& b, std::size_t images, const ResampleOptions& options,
                            const std::function<bool(double share)>& on_progress) {
  std::mt19937_64 generator(options.seed);
  std::vector<double> differences;
  std::vector<int> times(images);
  for (int i = 0; i < options.resamples; ++i) {
    if (on_progress && !on_progress(static_cast<double>(i) / options.resamples)) break;
    std::ranges::fill(times, 0);
    // The engine is portable; the standard distributions are not.
    for (std::size_t drawn = 0; drawn < images; ++drawn) ++times[generator() % images];
    const double ours = a(times);
    const double theirs = b(times);
    if (ours >= 0 && theirs >= 0) differences.push_back(ours - theirs);
  }
  Resampled resampled{.resamples = static_cast<int>(differences.size())};
  if (resampled.resamples < kFewestResamples) return resampled;
  std::ranges::sort(differences);
  const double outside = (1 - options.confidence) / 2;
  const auto last = static_cast<double>(differences.size() - 1);
  resampled.interval = {differences[static_cast<std::size_t>(std::floor(outside * last))],
                        differences[static_cast<std::size_t>(std::ceil((1 - outside) * last))]};
  return resampled;
}

}  // namespace saccade
