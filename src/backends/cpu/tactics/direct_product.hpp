#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cpu/kernels/product_kernels.hpp"
#include "cpu/loops/pixel_pitches.hpp"
#include "cpu/loops/row_operations.hpp"
#include "cpu/tactics/weights.hpp"
#include "ops/layers/window.hpp"
#include "runtime/tactic.hpp"

namespace saccade::cpu {

/// The sizes of a channels-last convolution or of a GEMM and how it is divided. A GEMM is a 1x1 convolution: its rows
/// are the pixels, each matrix of a batch is an image, the summed dimension is the input channels.
struct ProductGeometry {
  Window window;
  std::int64_t images;
  std::int64_t groups;
  std::int64_t in_channels;   ///< of a group
  std::int64_t out_channels;  ///< of a group
  std::int64_t taps;
  std::int64_t pixels;  ///< of an output image

  const ProductKernels* kernels = nullptr;
  std::int64_t tile_rows = 0;
  std::int64_t tile_columns = 0;
  std::int64_t panels = 0;        ///< of a group
  std::int64_t section = 0;       ///< input channels that a tile sums at once
  std::int64_t part_panels = 0;   ///< of a part
  std::int64_t strip = 0;         ///< pixels of a part
  std::int64_t strips = 0;        ///< of an image
  std::int64_t panel_groups = 0;  ///< of a group

  std::int64_t parts() const { return images * groups * panel_groups * strips; }
  std::int64_t padded_channels() const { return panels * tile_columns; }  ///< of a group
  std::int64_t panel_floats() const { return taps * in_channels * tile_columns; }
  /// Of the panels of all groups.
  std::int64_t packed_floats() const { return groups * panels * panel_floats(); }
};

/// Chooses the sections, panels and pixels of a part: as large as the caches allow, and enough parts for the threads.
void divide(ProductGeometry& geometry, int threads);

/// WEIGHTS in their panels.
Tensor pack_weights(const NodeContext& context, const ProductGeometry& geometry, const Weights<float>& weights);

/// What all executions of a product share.
struct PackedProduct {
  ProductGeometry geometry;
  /// All panels; without a value, each run packs input 1.
  std::optional<Tensor> weights;
  WeightStrides input_strides{};  ///< of input 1 where runs pack it
  std::int64_t matrices = 1;      ///< right operands of a GEMM
  /// By image, the right operand that it is multiplied with; empty: the first.
  std::vector<std::int64_t> matrix_of_image;
  /// By image, the pixels before its first in input 0; empty: images follow each other.
  std::vector<std::int64_t> first_pixels;
  PixelPitches pitches;  ///< of input 0 and the output, with the channels of all groups
  Tensor bias;           ///< one per column of all panels
  RowOperations operations;
};

/// A launch of a supported convolution that keeps no packed weights: each run packs them.
std::unique_ptr<Launch> repacking_convolution(const NodeContext& context);
/// A launch whose input 0 is the image.
std::unique_ptr<Launch> product_launch(PackedProduct product, int threads);

}  // namespace saccade::cpu
