#pragma once

#include <cstddef>
#include <cstdint>

namespace saccade::cpu {

/// The Winograd transforms F(4x4, 3x3) of images whose pixels hold their channels, in float32: a tile of 6x6 input
/// pixels becomes 36 positions, whose products with the positions of the transformed weights become 4x4 output pixels
/// (A. Lavin and S. Gray, arXiv:1509.09308). The interpolation points are 0, +-2/3, +-3/2 and infinity: with reciprocal
/// points the rounding error is a fifth of that of 0, +-1, +-2 (S. Alam et al., arXiv:2201.10369).
struct WinogradKernels {
  static constexpr std::size_t kInputs = 6;
  static constexpr std::size_t kOutputs = 4;
  static constexpr std::size_t kPositions = kInputs * kInputs;
  // The points are 0, +-kNear, +-kFar and infinity. The transforms use that kNear * kFar = 1.
  static constexpr double kNear = 2.0 / 3;
  static constexpr double kFar = 1.5;

  /// PIXELS: the tile's 6x6 input pixels, row by row. Position p of channel c is TO[p * STEP + c]; writes whole
  /// vectors.
  void (*transform_input)(const float* const* pixels, std::size_t channels, float* to, std::size_t step);
  /// The same of bfloat16 pixels.
  void (*transform_half_input)(const std::uint16_t* const* pixels, std::size_t channels, float* to, std::size_t step);
  /// The inverse for the sums over input channels: position p of channel c is FROM[p * STEP + c], read in whole
  /// vectors. Adds BIAS and writes the tile's 4x4 output pixels PIXELS. Returns whether the tile has only finite
  /// elements; with others a pixel may be NaN whose window has none.
  bool (*transform_output)(const float* from, std::size_t step, std::size_t channels, const float* bias,
                           float* const* pixels);
};

/// The kernels for this processor.
const WinogradKernels& winograd_kernels();

/// Filters that winograd_filters() transforms together.
constexpr std::size_t kWinogradFilters = 16;

/// The positions of COUNT filters of 3x3 elements, at most kWinogradFilters, APART elements apart: position p of filter
/// j is TO[p * STEP + j].
void winograd_filters(const float* filters, std::size_t apart, std::size_t count, float* to, std::size_t step);

}  // namespace saccade::cpu
