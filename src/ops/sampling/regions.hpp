#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/core/arithmetic.hpp"
#include "ops/core/op.hpp"

namespace saccade {

/// Limit of samples along one side of a bin: beyond it a region is far larger than any map, and the work must stay
/// bounded.
inline constexpr std::int64_t kMaxRegionSamples = 4096;

/// RoiAlign's attributes.
struct RoiAlignment {
  explicit RoiAlignment(const Attributes& attributes);

  bool half_pixel;
  bool largest;          ///< maximum of a bin's samples, instead of their average
  std::int64_t samples;  ///< per side of a bin; 0 for one per pixel of the bin
  double scale;          ///< from the regions' units to the map's pixels
};

/// A region along one axis: the start of its bins, and the number of samples per bin.
template <typename Real>
struct RegionSide {
  /// FROM..TO in the regions' units, in BINS bins, over a map of MAP_LENGTH.
  RegionSide(const RoiAlignment& how, Real from, Real to, std::int64_t bins, std::int64_t map_length)
      : samples(how.samples), length(map_length) {
    from *= static_cast<Real>(how.scale);
    to *= static_cast<Real>(how.scale);
    start = from - (how.half_pixel ? Real{0.5} : Real{0});
    bin = (how.half_pixel ? to - from : std::max(to - from, Real{1})) / static_cast<Real>(bins);
    if (samples == 0) samples = std::clamp<std::int64_t>(saturate<std::int64_t>(std::ceil(bin)), 0, kMaxRegionSamples);
  }

  /// The position of sample I of bin INDEX.
  Real sample(std::int64_t index, std::int64_t i) const {
    return start + static_cast<Real>(index) * bin +
           (static_cast<Real>(i) + Real{0.5}) * bin / static_cast<Real>(samples);
  }

  Real start;
  Real bin;
  std::int64_t samples;
  std::int64_t length;
};

/// The two neighbouring elements of a sample on a map of LENGTH, and the weight of the second.
template <typename Real>
struct Between {
  Between(Real at, std::int64_t length) {
    if (!(at >= -1 && at <= static_cast<Real>(length)) || length == 0) return;
    outside = false;
    at = std::max(at, Real{0});
    low = std::min(static_cast<std::int64_t>(at), length - 1);
    high = std::min(low + 1, length - 1);
    if (high > low) weight = at - static_cast<Real>(low);
  }

  std::int64_t low = 0;
  std::int64_t high = 0;
  Real weight = 0;
  bool outside = true;
};

}  // namespace saccade
