#include "ops/vision/pixel_filter.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr int kPillowBits = 32 - 8 - 2;  // PRECISION_BITS of Pillow's Resample.c
constexpr int kOpenCvBits = 11;          // INTER_RESIZE_COEF_BITS

using Shares = std::vector<double>;

/// The place of tensor POSITION's left edge, in samples.
double edge_of(const TapAxis& axis, int position) { return (position - axis.first) * axis.scale + axis.offset; }

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

/// Pillow's bicubic: a = -0.5.
double pillow_cubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

/// As Pillow's precompute_coeffs(): a filter as wide as the samples of a tensor pixel. Shares sum to 1.
int antialiased(const TapAxis& axis, int position, double support, double (*filter)(double), Shares& shares) {
  const double wider = std::max(axis.scale, 1.0);
  const double reach = support * wider;
  const double centre = (position - axis.first + 0.5) * axis.scale + axis.offset;
  const int begin = std::max(static_cast<int>(centre - reach + 0.5), 0);
  const int end = std::min(static_cast<int>(centre + reach + 0.5), axis.end - axis.begin);
  double sum = 0;
  for (int x = begin; x < end; ++x) sum += shares.emplace_back(filter((x - centre + 0.5) * (1.0 / wider)));
  if (sum != 0)
    for (double& share : shares) share /= sum;
  return begin;
}

/// As OpenCV's INTER_CUBIC: a = -0.75, four samples at every scale.
int cubic(const TapAxis& axis, int position, Shares& shares) {
  constexpr float kA = -0.75F;
  const auto sample = static_cast<float>((position - axis.first + 0.5) * axis.scale + axis.offset - 0.5);
  const float below = std::floor(sample);
  const float x = sample - below;
  const float y = 1 - x;
  const float outer = ((kA * (x + 1) - 5 * kA) * (x + 1) + 8 * kA) * (x + 1) - 4 * kA;
  const float left = ((kA + 2) * x - (kA + 3)) * x * x + 1;
  const float right = ((kA + 2) * y - (kA + 3)) * y * y + 1;
  shares.assign({outer, left, right, 1 - outer - left - right});
  return static_cast<int>(below) - 1;
}

/// As OpenCV's INTER_AREA where an axis is enlarged: two samples, of which the first keeps its whole area.
int enlarged_area(const TapAxis& axis, int position, Shares& shares) {
  const double below = std::floor(edge_of(axis, position));
  const double part = (position - axis.first + 1) - (below + 1 - axis.offset) / axis.scale;
  const double second = part <= 0 ? 0 : part - std::floor(part);
  shares.assign({1 - second, second});
  return static_cast<int>(below);
}

/// As OpenCV's INTER_AREA: shares of the area. Overlaps of a thousandth are ignored.
int shrunk_area(const TapAxis& axis, int position, Shares& shares) {
  constexpr double kLeast = 1e-3;
  const double left = edge_of(axis, position);
  const double right = std::min(left + axis.scale, static_cast<double>(axis.end - axis.begin));
  const double width = right - left;
  const int first = static_cast<int>(std::floor(left));
  for (int x = first; x < right; ++x) {
    const double overlap = std::min(right, x + 1.0) - std::max(left, static_cast<double>(x));
    shares.push_back(overlap < kLeast ? 0 : overlap / width);
  }
  if (shares.empty()) shares.push_back(1);
  return first;
}

int nearest(const TapAxis& axis, int position, Shares& shares) {
  shares.assign({1});
  return static_cast<int>(std::floor(edge_of(axis, position)));
}

/// The shares of POSITION, into an empty vector; returns the sample of the first.
int shares_of(Interpolation kind, const TapAxis& axis, int position, bool shrinks, Shares& shares) {
  switch (kind) {
    case Interpolation::kBilinear:
    case Interpolation::kBilinearAntialias: return antialiased(axis, position, 1, triangle, shares);
    case Interpolation::kBicubicAntialias: return antialiased(axis, position, 2, pillow_cubic, shares);
    case Interpolation::kBicubic: return cubic(axis, position, shares);
    case Interpolation::kArea:
      return shrinks ? shrunk_area(axis, position, shares) : enlarged_area(axis, position, shares);
    case Interpolation::kNearest: return nearest(axis, position, shares);
  }
  return 0;
}

/// Turns shares of pixels, from FIRST on, into shares of samples that cover PER pixels each, as if the samples were
/// first enlarged to pixels by linear interpolation. So halved chroma is filtered as the frame's RGB would be.
int spread(int first, const TapAxis& pixels, const TapAxis& samples, int per, Shares& shares) {
  const auto place = [&](double pixel) { return (pixels.begin + pixel + 0.5) / per - 0.5 - samples.begin; };
  const int begin = static_cast<int>(std::floor(place(first)));
  Shares spread(static_cast<std::size_t>(std::ceil(static_cast<double>(shares.size()) / per)) + 2);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    const double pixel = std::clamp<double>(first + static_cast<double>(k), 0, pixels.end - pixels.begin - 1);
    const double at = std::max(place(pixel), static_cast<double>(begin));
    const double below = std::floor(at);
    const auto tap = static_cast<std::size_t>(below - begin);
    spread[tap] += shares[k] * (1 - (at - below));
    spread[tap + 1] += shares[k] * (at - below);
  }
  shares = std::move(spread);
  return begin;
}

/// The most shares that a position has.
double most_shares(Interpolation kind, double scale) {
  const double wider = std::max(scale, 1.0);
  switch (kind) {
    case Interpolation::kBilinear:
    case Interpolation::kBilinearAntialias: return std::ceil(wider) * 2 + 1;
    case Interpolation::kBicubicAntialias: return std::ceil(2 * wider) * 2 + 1;
    case Interpolation::kBicubic: return 4;
    case Interpolation::kArea: return std::ceil(wider) + 1;
    case Interpolation::kNearest: return 1;
  }
  return 1;
}

int rounded_weight(double share, int bits) {
  const double weight = share * (1 << bits);
  return static_cast<int>(weight < 0 ? weight - 0.5 : weight + 0.5);
}

}  // namespace

FilterArithmetic filter_arithmetic(Interpolation kind) noexcept {
  constexpr int kAny = 1 << 30;
  switch (kind) {
    case Interpolation::kBilinear:
    case Interpolation::kBilinearAntialias:
    case Interpolation::kBicubicAntialias: return {kPillowBits, kPillowBits, kPillowBits, kPillowBits, 0, 255};
    case Interpolation::kBicubic: return {kOpenCvBits, 0, kOpenCvBits, 2 * kOpenCvBits, -kAny, kAny};
    // Horizontal sums keep four bits, for OpenCV's are not rounded. The weights of thousands of taps fit 32 bits.
    case Interpolation::kArea: return {22, 18, 18, 22, 0, kAny};
    case Interpolation::kNearest: return {0, 0, 0, 0, 0, 255};
  }
  return {};
}

FilterAxis FilterAxis::of(int origin, int extent, int per, std::int64_t target, std::int64_t at) noexcept {
  return {TapAxis::of(origin, extent, 1, target, at), TapAxis::of(origin, extent, per, target, at), per};
}

void FilterTable::store(int position, int first, int bits) {
  const int start = std::clamp(first, 0, extent_ - taps_);
  std::int32_t* row = weights_.data() + static_cast<std::ptrdiff_t>(position) * taps_;
  for (std::size_t k = 0; k < scratch_.size(); ++k) {
    const int sample = std::clamp(first + static_cast<int>(k), 0, extent_ - 1);
    const int tap = std::clamp(sample - start, 0, taps_ - 1);
    row[tap] += rounded_weight(scratch_[k], bits);
  }
  first_[static_cast<std::size_t>(position)] = start;
}

void FilterTable::build(Interpolation kind, const FilterAxis& axis, Span positions, int bits, bool shrinks) {
  const int count = std::max(positions.end - positions.begin, 0);
  const bool spreads = axis.per > 1 && kind != Interpolation::kNearest;
  const TapAxis& from = spreads ? axis.pixels : axis.samples;
  const double most = most_shares(kind, from.scale);
  extent_ = axis.samples.end - axis.samples.begin;
  taps_ = static_cast<int>(std::min(spreads ? std::ceil(most / axis.per) + 2 : most, static_cast<double>(extent_)));
  first_.resize(static_cast<std::size_t>(count));
  weights_.assign(static_cast<std::size_t>(count) * static_cast<std::size_t>(taps_), 0);
  for (int i = 0; i < count; ++i) {
    scratch_.clear();
    int first = shares_of(kind, from, positions.begin + i, shrinks, scratch_);
    if (spreads) first = spread(first, axis.pixels, axis.samples, axis.per, scratch_);
    store(i, first, bits);
  }
}

void ComponentFilter::build(const PreprocessSpec& spec, const Placement& placed, const Component& part) {
  const Region& source = placed.source;
  const FilterAxis columns = FilterAxis::of(source.x, source.width, part.across, placed.width, placed.x);
  const FilterAxis rows = FilterAxis::of(source.y, source.height, part.down, placed.height, placed.y);
  const FilterArithmetic arithmetic = filter_arithmetic(spec.interpolation);
  const bool shrinks = columns.pixels.scale >= 1 && rows.pixels.scale >= 1;
  across.build(spec.interpolation, columns, covered(placed.x, placed.width, spec.width), arithmetic.across_bits,
               shrinks);
  down.build(spec.interpolation, rows, covered(placed.y, placed.height, spec.height), arithmetic.down_bits, shrinks);
  begin = columns.samples.begin;
  end = columns.samples.end;
  top = rows.samples.begin;
}

}  // namespace saccade
