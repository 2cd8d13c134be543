#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/weights.hpp"
#include "ops/layers/window.hpp"
#include "runtime/tactic.hpp"
#include "tensor/half.hpp"

namespace saccade::cpu {

/// How the rows that a bfloat16 product multiplies are made from its input.
enum class RowSource : std::uint8_t {
  kDirect,    ///< they are the pixels, or the rows of a matrix, where they are
  kUnfolded,  ///< the elements of all taps of a pixel, copied (im2col)
  kPatch,     ///< the pixels of a patch of the input, copied with its padding; a tap is an offset in it
  kLines,     ///< the same, but steps divide all taps of a line of the window, which are adjacent
};

/// The sizes of a channels-last convolution or of a GEMM in bfloat16, and how it is divided. A GEMM is a 1x1
/// convolution: its rows are the pixels, each matrix of a batch is an image, the summed dimension is the input
/// channels.
struct HalfGeometry {
  Window window;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t in_channels;   ///< of a group
  std::int64_t out_channels;  ///< of a group

  std::int64_t taps = 1;
  std::int64_t pixels = 1;  ///< of an output image
  RowSource rows = RowSource::kDirect;
  std::int64_t row_elements = 0;      ///< from a row to the next
  std::int64_t depth = 0;             ///< elements of a step
  std::vector<std::int32_t> offsets;  ///< by step, from a row to its elements
  std::int64_t patch_width = 0;       ///< rows of a line of a patch
  std::int64_t patch_lines = 0;       ///< of a plane, more than output lines
  std::int64_t patch_pixels = 0;      ///< rows of a plane

  std::int64_t panels = 0;        ///< of a group
  std::int64_t part_panels = 0;   ///< of a part
  std::int64_t strip = 0;         ///< pixels of a part; whole lines of a patch
  std::int64_t strips = 0;        ///< of an image
  std::int64_t panel_groups = 0;  ///< of a group

  /// Whether strips are whole lines of copied ones.
  bool copies_lines() const { return rows == RowSource::kPatch || rows == RowSource::kLines; }
  std::int64_t steps() const { return static_cast<std::int64_t>(offsets.size()); }
  std::int64_t parts() const { return images * groups * panel_groups * strips; }
  std::int64_t padded_channels() const;  ///< of a group, in whole panels
  /// Operations of an output pixel of OF_PANELS panels, or as many as take as long as its steps and epilogue.
  std::int64_t pixel_operations(std::int64_t of_panels) const;
  std::int64_t panel_elements() const;
  /// Of the panels of all groups.
  std::int64_t packed_elements() const { return groups * panels * panel_elements(); }
  /// Of the rows that a part copies.
  std::int64_t copied_elements() const;
};

/// Chooses how rows are made and the panels and pixels of a part.
HalfGeometry half_geometry(const Window& window, std::int64_t images, std::int64_t groups, std::int64_t in_channels,
                           std::int64_t out_channels, int threads);

/// What all executions of a product share.
struct PackedHalfProduct {
  HalfGeometry geometry;
  /// All panels; without a value, input 1 is a GEMM's right operand, which each run packs.
  std::optional<Tensor> weights;
  std::int64_t matrices = 1;  ///< right operands of a GEMM
  /// By image, the right operand that it is multiplied with; empty: the first.
  std::vector<std::int64_t> matrix_of_image;
  /// By image, the pixels before its first in input 0; empty: images follow each other.
  std::vector<std::int64_t> first_pixels;
  PixelPitches pitches;  ///< of input 0 and the output, with the channels of all groups
  Tensor bias;           ///< float32, one per column of all panels
  RowOperations operations;
};

/// Packs panel PANEL (of all groups) of a matrix at ELEMENTS, with the strides and the factor of WEIGHTS, to TO.
/// Columns past the last output channel are zero.
void pack_half_panel(const HalfGeometry& geometry, const Weights<BFloat16>& weights, const BFloat16* elements,
                     std::int64_t panel, std::uint16_t* to);
Tensor pack_half_weights(const NodeContext& context, const HalfGeometry& geometry, const Weights<BFloat16>& weights);
/// A launch whose input 0 is the image.
std::unique_ptr<Launch> half_product_launch(PackedHalfProduct product, int threads);

}  // namespace saccade::cpu
