#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ops/vision/pixel_filter.hpp"
#include "ops/vision/pixels.hpp"

// The vector kernels of saccade.Preprocess, bit-exact with ops/vision/pixels.hpp and pixel_filter.hpp. Arrays named
// "padded" may be read (never used) and written up to kPixelPadding elements past their end.
namespace saccade::cpu {

inline constexpr std::size_t kPixelPadding = 64;

/// Deinterleaves a row of three components into three rows of COUNT.
void split_three(const std::uint8_t* interleaved, std::size_t count, const std::array<std::uint8_t*, 3>& rows);

/// COUNT samples that lie STEP bytes apart. Reads nothing beyond the last one.
void gather_samples(const std::uint8_t* samples, int step, std::size_t count, std::uint8_t* dst);

/// The red, green and blue of COUNT pixels of a mosaic's row, from column BEGIN on, as demosaiced() makes them. Reads
/// nothing beyond the rows' samples.
void demosaic(const MosaicRow& rows, int begin, std::size_t count, const std::array<std::uint8_t*, 3>& colors);

/// Horizontal interpolation of pairs of adjacent samples; the weight (padded) of the second is in units of 1/2048. DST
/// (padded) gets the values of blend_row().
void blend_pairs(const std::uint8_t* pairs, const std::int16_t* weights, std::size_t count, std::int16_t* dst);
/// The same with all weights 0.
void widen_samples(const std::uint8_t* samples, std::size_t count, std::int16_t* dst);

/// A FilterTable for vectors of positions.
struct FilterColumns {
  int taps = 0;
  std::size_t positions = 0;
  std::vector<std::int32_t> first;    ///< padded
  std::vector<std::int32_t> weights;  ///< by tap, then by position (padded)

  /// Allocates only if TABLE is larger than all before.
  void build(const FilterTable& table);
  std::size_t stride() const { return positions + kPixelPadding; }  ///< of the weights, by tap
};

/// A row of SAMPLES (padded) through TABLE. DST (padded) gets the values of FilterArithmetic::after_across().
void filter_row(const FilterColumns& table, const FilterArithmetic& arithmetic, const std::uint8_t* samples,
                std::int32_t* dst);
/// COUNT columns of TAPS rows (padded), which are filter_row()'s. DST (padded) gets the values of
/// FilterArithmetic::after_down() as widen_samples() stores them.
void filter_columns(const std::int32_t* const* rows, const std::int32_t* weights, int taps,
                    const FilterArithmetic& arithmetic, std::size_t count, std::int16_t* dst);

/// Two horizontally interpolated rows of each component, with the parameters of the conversion.
struct PixelRows {
  std::array<const std::int16_t*, 3> upper{};  ///< padded
  std::array<const std::int16_t*, 3> lower{};  ///< padded
  std::array<std::int16_t, 3> upper_weight{};
  std::array<std::int16_t, 3> lower_weight{};
  ColorModel model = ColorModel::kRgb;
  YuvMatrix yuv;
  ChannelOrder order = ChannelOrder::kRgb;
  std::array<float, 3> scale{};
  std::array<float, 3> bias{};
};
/// Vertical interpolation, colour conversion, scale and bias of COUNT pixels. The output is planar, or interleaved if
/// only CHANNELS[0] is set.
void finish_pixels(const PixelRows& rows, std::size_t count, const std::array<float*, 3>& channels);

}  // namespace saccade::cpu
