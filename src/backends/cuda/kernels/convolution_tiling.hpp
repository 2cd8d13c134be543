#pragma once

#include "rounding.hpp"

// Tiling of convolution.cuh, for the host, which sizes launches and packs weights by it, and for the kernel. The host's
// compiler and NVRTC both read this: no standard library.
namespace saccade::cuda {

/// How inputs are staged in shared memory; see convolution.cuh.
enum class InputStaging { kTapGather, kHaloTile, kFewChannels };

/// Half precision, 8-bit integers and tf32 use tensor cores; other float32 uses FFMA.
constexpr bool uses_tensor_cores(int element_bytes, bool tf32) { return element_bytes == 2 || tf32; }
/// K of one MMA (4 for FFMA), in elements; two 8-bit integers count as one.
constexpr int mma_k_of(int element_bytes, bool tf32) {
  return uses_tensor_cores(element_bytes, tf32) ? 32 / element_bytes : 4;
}

/// Elements of the widest vector, of 16 or 4 bytes, that a pixel's CHANNELS at a pitch of PITCH divide into; else 1.
constexpr int widest_vector(int pitch, int channels, int element_bytes) {
  const int most = 16 / element_bytes;
  const int four_bytes = 4 / element_bytes;
  return pitch % most == 0 && channels % most == 0               ? most
         : pitch % four_bytes == 0 && channels % four_bytes == 0 ? four_bytes
                                                                 : 1;
}

struct ConvolutionTiling {
  /// SHAPE and TILE have the members of ConvolutionShape and ConvolutionTile (plans/convolution_plan.hpp).
  template <class Shape, class Tile>
  constexpr ConvolutionTiling(const Shape& shape, const Tile& tile) {
    few = tile.staging == InputStaging::kFewChannels;
    all_taps = tile.staging != InputStaging::kTapGather;
    threads = 32 * tile.warps_m * tile.warps_n * tile.warps_k;
    tile_pixels = tile.height * tile.width;
    rows = round_up(tile_pixels, 16 * tile.warps_m);
    m = rows / 16 / tile.warps_m;
    n = tile.filters / 8 / tile.warps_n;
    filter_tiles = ceil_div(shape.filters, tile.filters);
    set_input(shape, tile);
    set_pipeline(shape, tile);
    set_reduction(tile);
    barrier_at = round_up(max_of(stages * (input_bytes + weight_bytes), partial_bytes), 128) + receive_bytes;
    shared_bytes = barrier_at + 8 * (stages + 1);
  }

  bool few = false;
  bool all_taps = false;  ///< a k-step covers all taps
  int threads = 0;

  int tile_pixels = 0;
  int rows = 0;  ///< of the block's accumulators: pixels, padded to whole MMAs
  int m = 0;     ///< MMA tiles of a warp
  int n = 0;
  int filter_tiles = 0;

  // The halo tile: rows of halo_width pixels at a pitch of halo_pitch, chosen so that the 8 rows of one ldmatrix fall
  // into different banks even if the tile width is no multiple of 8.
  int halo_height = 0;
  int row_taps = 0;
  int halo_width = 0;
  int halo_pitch = 0;
  int loaded_pixels = 0;

  // Input loads of a k-step.
  int vector = 0;         ///< elements
  int pixel_vectors = 0;  ///< of a pixel
  int loads = 0;          ///< of a thread

  // One pipeline stage: inputs, then weights.
  int pixel_bytes = 0;
  int input_bytes = 0;
  int depth = 0;  ///< K of a k-step
  int weight_bytes = 0;
  int channel_steps = 0;
  int steps = 0;
  int block_steps = 0;  ///< of one block of a split-K cluster
  int stages = 0;

  // Partial accumulators: an item is a vector of LANE adjacent filters of every lane of a warp.
  int lane = 0;
  int warp_items = 0;
  int items = 0;  ///< of all warps along M and N
  int item_bytes = 0;
  int owned = 0;  ///< items that one block of a cluster finishes
  int partial_bytes = 0;
  int receive_bytes = 0;
  int barrier_at = 0;
  int shared_bytes = 0;

 private:
  template <class Shape, class Tile>
  constexpr void set_input(const Shape& shape, const Tile& tile) {
    const int bytes = shape.element_bytes();
    halo_height = (tile.height - 1) * shape.stride_y + (shape.kernel_height - 1) * shape.dilation_y + 1;
    row_taps = few ? round_up(shape.kernel_width, 4) : shape.kernel_width;
    halo_width = (tile.width - 1) * shape.stride_x + (row_taps - 1) * shape.dilation_x + 1;
    halo_pitch = halo_width + ((tile.width - halo_width) % 8 + 8) % 8;
    loaded_pixels = all_taps ? halo_height * halo_width : tile_pixels;
    vector = few ? 4 : widest_vector(shape.in_pitch, shape.channels, bytes);
    pixel_vectors = few ? 1 : tile.step / vector;
    loads = ceil_div(loaded_pixels * pixel_vectors, threads);
    pixel_bytes = few ? 4 * bytes : tile.step * bytes + 16;
    const int held_pixels = all_taps ? (halo_height - 1) * halo_pitch + halo_width : tile_pixels;
    input_bytes = round_up(held_pixels * pixel_bytes, 128);
  }

  template <class Shape, class Tile>
  constexpr void set_pipeline(const Shape& shape, const Tile& tile) {
    const int taps = shape.kernel_height * shape.kernel_width;
    depth = few ? shape.kernel_height * row_taps * 4 : (all_taps ? taps : 1) * tile.step;
    weight_bytes = depth * tile.filters * shape.element_bytes();
    channel_steps = few ? 1 : ceil_div(shape.channels, tile.step);
    steps = channel_steps * (all_taps ? 1 : taps);
    block_steps = ceil_div(steps, tile.split);
    stages = min_of(block_steps, tile.stages);
  }

  template <class Tile>
  constexpr void set_reduction(const Tile& tile) {
    lane = n % 4 == 0 ? 8 : 4;
    warp_items = m * 2 * (2 * n / lane);
    items = tile.warps_m * tile.warps_n * warp_items;
    item_bytes = lane / 4 * 512;
    owned = ceil_div(items, tile.split);
    partial_bytes = tile.warps_k == 1 ? 0 : tile.warps_k * items * item_bytes;
    receive_bytes = tile.split == 1 ? 0 : tile.split * owned * item_bytes;
  }
};

}  // namespace saccade::cuda
