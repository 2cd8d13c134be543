#pragma once

#include <cstdint>
#include <vector>

#include "base/histogram.hpp"
#include "measure/statistics/units.hpp"

namespace saccade {

/// The distribution of durations: bars of equal width and a density estimate, both from a histogram.
struct LatencyShape {
  struct Bin {
    Nanoseconds low{};
    Nanoseconds high{};
    double count = 0;  ///< fractional if a bucket of the histogram spans an edge
  };
  struct DensityPoint {
    Nanoseconds at{};
    double count = 0;  ///< samples per bar width at this point
  };
  std::vector<Bin> bins;
  std::vector<DensityPoint> density;
  std::int64_t samples = 0;
  std::int64_t beyond = 0;  ///< samples above the last bin, in the cut-off tail
  Nanoseconds longest{};
};

/// The number of bins in reports.
inline constexpr int kShapeBins = 60;

/// At most BINS bars from the shortest sample to beyond the 95th percentile; the density is a Gaussian kernel estimate
/// with Silverman's bandwidth, 0.9 min(deviation, IQR / 1.34) n^(-1/5) (Density Estimation, 1986, eq. 3.31). Empty
/// without samples.
LatencyShape shape_of(const Histogram& histogram, int bins);

}  // namespace saccade
