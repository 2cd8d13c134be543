#pragma once

#include <cstdint>
#include <vector>

#include "base/histogram.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// How durations are spread: bars of equal width and an estimate of their density, both from a histogram.
struct LatencyShape {
  struct Bin {
    Nanoseconds low{};
    Nanoseconds high{};
    double count = 0;  ///< fractional where a bucket of the histogram lies across an edge
  };
  struct DensityPoint {
    Nanoseconds at{};
    double count = 0;  ///< samples that a bin of the bars' width would hold around here
  };
  std::vector<Bin> bins;
  std::vector<DensityPoint> density;
  std::int64_t samples = 0;
  std::int64_t beyond = 0;  ///< samples above the last bin: a tail too long to show
  Nanoseconds longest{};
};

/// What reports draw a shape with.
inline constexpr int kShapeBins = 60;

/// At most BINS bars from the shortest sample to past the 95th percentile; the density is a Gaussian kernel estimate
/// with Silverman's bandwidth, 0.9 min(deviation, IQR / 1.34) n^(-1/5) (Density Estimation, 1986, eq. 3.31). Empty
/// without samples.
LatencyShape shape_of(const Histogram& histogram, int bins);

}  // namespace saccade
