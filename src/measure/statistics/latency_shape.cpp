#include "measure/statistics/latency_shape.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace saccade {
namespace {

constexpr int kDensityPoints = 161;

/// The right end of the plot: the last sample, unless outliers would compress all the others. Five interquartile ranges
/// above the upper quartile is far out by any convention (Tukey's outer fence is three).
double end_of_image(const Histogram& histogram) {
  const auto at = [&](double percent) { return static_cast<double>(histogram.percentile(percent).count()); };
  const double body = std::max(at(75) + 5 * (at(75) - at(25)), at(95) + 0.5 * (at(95) - at(50)));
  return std::min(static_cast<double>(histogram.max().count()) + 1, std::max(body, at(95) + 1));
}

void fill_bins(LatencyShape& shape, const Histogram& histogram) {
  const double low = shape.bins.front().low.count();
  const double high = shape.bins.back().high.count();
  const double width = (high - low) / static_cast<double>(shape.bins.size());
  histogram.visit([&](const Histogram::Bucket& bucket) {
    const double from = std::max(static_cast<double>(bucket.low.count()), low);
    const double to = std::min(static_cast<double>((bucket.low + bucket.width).count()), high);
    const auto whole = static_cast<double>(bucket.width.count());
    for (auto i = static_cast<std::size_t>(std::max((from - low) / width, 0.0)); i < shape.bins.size(); ++i) {
      LatencyShape::Bin& bin = shape.bins[i];
      const double overlap = std::min(to, bin.high.count()) - std::max(from, bin.low.count());
      if (bin.low.count() >= to) break;
      if (overlap > 0) bin.count += static_cast<double>(bucket.count) * overlap / whole;
    }
  });
}

double bandwidth(const Histogram& histogram, double resolution) {
  const auto spread = static_cast<double>((histogram.percentile(75) - histogram.percentile(25)).count()) / 1.34;
  const auto deviation = static_cast<double>(histogram.deviation().count());
  const double scale = spread > 0 ? std::min(spread, deviation) : deviation;
  const double silverman = 0.9 * scale * std::pow(static_cast<double>(histogram.count()), -0.2);
  return std::max(silverman, resolution);
}

void fill_density(LatencyShape& shape, const Histogram& histogram) {
  const double low = shape.bins.front().low.count();
  const double high = shape.bins.back().high.count();
  const double bin = (high - low) / static_cast<double>(shape.bins.size());
  // Below half a bin the estimate would show the histogram's buckets.
  const double h = bandwidth(histogram, bin / 2);
  for (int i = 0; i < kDensityPoints; ++i)
    shape.density.push_back({Nanoseconds(low + (high - low) * i / (kDensityPoints - 1)), 0});
  histogram.visit([&](const Histogram::Bucket& bucket) {
    const double middle = static_cast<double>(bucket.low.count()) + static_cast<double>(bucket.width.count()) / 2;
    const double weight = static_cast<double>(bucket.count) * bin / (h * std::sqrt(2 * std::numbers::pi));
    for (LatencyShape::DensityPoint& point : shape.density) {
      const double z = (point.at.count() - middle) / h;
      if (std::abs(z) < 6) point.count += weight * std::exp(-z * z / 2);
    }
  });
}

}  // namespace

LatencyShape shape_of(const Histogram& histogram, int bins) {
  LatencyShape shape;
  shape.samples = histogram.count();
  shape.longest = histogram.max();
  if (shape.samples == 0) return shape;
  const auto low = static_cast<double>(histogram.min().count());
  const double high = std::max(end_of_image(histogram), low + 1);
  // Bars narrower than the histogram's buckets would alternate with empty ones.
  const double finest = std::max(high / 128, 1.0);
  const int count = std::clamp(static_cast<int>((high - low) / finest), 1, bins);
  const double width = (high - low) / count;
  for (int i = 0; i < count; ++i)
    shape.bins.push_back({Nanoseconds(low + i * width), Nanoseconds(low + (i + 1) * width)});
  fill_bins(shape, histogram);
  double shown = 0;
  for (const LatencyShape::Bin& bin : shape.bins) shown += bin.count;
  shape.beyond = std::max<std::int64_t>(shape.samples - std::llround(shown), 0);
  fill_density(shape, histogram);
  return shape;
}

}  // namespace saccade
