#pragma once

#include <cstdint>
#include <vector>

#include "ops/vision/pixels.hpp"

// Interpolation by tables of weights: all forms except OpenCV's bilinear (TapAxis). Rows are filtered first, then
// columns, both in 32-bit integers. The reference, the CPU and CUDA share tables and arithmetic and are bit-identical.
namespace saccade {

/// The fixed-point arithmetic of both passes. A sum of weighted samples is rounded and shifted.
struct FilterArithmetic {
  int across_bits = 0;   ///< a horizontal weight of 1 is 1 << across_bits
  int across_shift = 0;  ///< of horizontal sums
  int down_bits = 0;
  int down_shift = 0;
  int low = 0;  ///< range of horizontal results
  int high = 0;

  static int shifted(int sum, int shift) { return (sum + ((1 << shift) >> 1)) >> shift; }
  int after_across(int sum) const {
    const int value = shifted(sum, across_shift);
    return value < low ? low : value > high ? high : value;
  }
  int after_down(int sum) const {
    const int value = shifted(sum, down_shift);
    return value < 0 ? 0 : value > 255 ? 255 : value;
  }
};
/// Whether KIND is interpolated by tables.
constexpr bool uses_tables(Interpolation kind) { return kind != Interpolation::kBilinear; }
FilterArithmetic filter_arithmetic(Interpolation kind) noexcept;

/// The mapping from tensor positions along one axis to a frame's pixels, and to a component's samples that cover PER
/// pixels each.
struct FilterAxis {
  TapAxis pixels;
  TapAxis samples;
  int per = 1;

  /// As TapAxis::of().
  static FilterAxis of(int origin, int extent, int per, std::int64_t target, std::int64_t at) noexcept;
};

/// The weights of neighbouring samples for a range of tensor positions. Every position has the same number of taps, all
/// within the axis. Weights of samples beyond its ends are added to those of the last ones.
class FilterTable {
 public:
  /// Weights with BITS for POSITIONS. SHRINKS: neither axis of the frame is enlarged, which changes kArea.
  /// Allocates only if the table is larger than all before.
  void build(Interpolation kind, const FilterAxis& axis, Span positions, int bits, bool shrinks);

  int taps() const { return taps_; }
  int positions() const { return static_cast<int>(first_.size()); }
  /// The first sample, relative to the axis' begin, of each position.
  const std::vector<std::int32_t>& first() const { return first_; }
  const std::vector<std::int32_t>& weights() const { return weights_; }
  const std::int32_t* weights(int position) const {
    return weights_.data() + static_cast<std::ptrdiff_t>(position) * taps_;
  }

 private:
  /// Adds the shares in scratch_ to POSITION's weights; FIRST is the sample of the first.
  void store(int position, int first, int bits);

  int taps_ = 0;
  int extent_ = 0;
  std::vector<std::int32_t> first_;
  std::vector<std::int32_t> weights_;
  std::vector<double> scratch_;  ///< shares of one position
};

/// Both tables of a component.
struct ComponentFilter {
  FilterTable across;
  FilterTable down;
  int begin = 0;  ///< the readable samples of a row, end exclusive
  int end = 0;
  int top = 0;  ///< the first readable row

  void build(const PreprocessSpec& spec, const Placement& placed, const Component& part);
};

}  // namespace saccade
