#pragma once

#include <array>
#include <cstdint>

#include "ops/vision/pixels.hpp"

// The vector kernels of saccade.Preprocess, bit for bit the arithmetic of ops/vision/pixels.hpp. Arrays named "padded"
// may be read (never used) and written up to kPixelPadding elements past their end.
namespace saccade::cpu {

inline constexpr std::size_t kPixelPadding = 64;

/// A row's three interleaved components into three rows of COUNT.
void split_three(const std::uint8_t* interleaved, std::size_t count, const std::array<std::uint8_t*, 3>& rows);

/// Horizontal interpolation: neighbours as pairs of bytes, the second one's weight (padded) of 2048; DST (padded) holds
/// blend_row()'s values.
void blend_pairs(const std::uint8_t* pairs, const std::int16_t* weights, std::size_t count, std::int16_t* dst);
/// The same where every pair's second weight is 0.
void widen_samples(const std::uint8_t* samples, std::size_t count, std::int16_t* dst);

/// Two horizontally interpolated rows of each component, and what to make of them.
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
/// Vertical interpolation, colour conversion, scale and bias into COUNT pixels: one row a channel, or, where
/// CHANNELS[0] alone is given for three channels, pixel after pixel.
void finish_pixels(const PixelRows& rows, std::size_t count, const std::array<float*, 3>& channels);

}  // namespace saccade::cpu
