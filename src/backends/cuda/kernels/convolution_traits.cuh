#pragma once

#include "convolution_tiling.hpp"
#include "tile.cuh"

// Compile-time constants of convolution.cuh.

/// A layer's shape and tile under the names of ConvolutionTiling.
template <class L>
struct ConvolutionLayerShape {
  static constexpr int element_bytes() { return sizeof(typename L::Element); }
  static constexpr int in_pitch = L::kInPitch, channels = L::kChannels, filters = L::kFilters;
  static constexpr int kernel_height = L::kKernelHeight, kernel_width = L::kKernelWidth;
  static constexpr int stride_y = L::kStrideY, stride_x = L::kStrideX;
  static constexpr int dilation_y = L::kDilationY, dilation_x = L::kDilationX;
};
template <class L>
struct ConvolutionLayerTile {
  static constexpr InputStaging staging = L::kStaging;
  static constexpr int height = L::kTileHeight, width = L::kTileWidth, filters = L::kTileFilters, step = L::kStep;
  static constexpr int warps_m = L::kWarpsM, warps_n = L::kWarpsN, warps_k = L::kWarpsK;
  static constexpr int split = L::kSplit, stages = L::kStages;
};

/// Types and constants of a layer.
template <class L>
struct ConvolutionTraits {
  using T = typename L::Element;
  using Accumulator = typename AccumulatorTraits<T>::Accumulator;
  using Bias = typename AccumulatorTraits<T>::Bias;
  static constexpr ConvolutionTiling kTiling{ConvolutionLayerShape<L>{}, ConvolutionLayerTile<L>{}};
  static constexpr bool kBytes = AccumulatorTraits<T>::kBytes;  // channels and kInPitch count pairs of bytes
  static constexpr bool kTensor = uses_tensor_cores(sizeof(T), L::kTf32);
  static constexpr int kMmaK = mma_k_of(sizeof(T), L::kTf32);
  static constexpr bool kFew = kTiling.few;
  static constexpr bool kAllTaps = kTiling.all_taps;
  static constexpr int kTaps = L::kKernelHeight * L::kKernelWidth;
  static constexpr int kThreads = kTiling.threads;

  static constexpr int kTilePixels = kTiling.tile_pixels;
  static constexpr int kM = kTiling.m;
  static constexpr int kN = kTiling.n;
  using Warp = WarpTile<kM, kN>;

  // Tiles are 2D within an image, or runs of the flattened pixels of all images.
  static constexpr int kPixels = L::kImages * L::kOutHeight * L::kOutWidth;
  static constexpr int kTilesX = ceil_div(L::kOutWidth, L::kTileWidth);
  static constexpr int kTilesY = ceil_div(L::kOutHeight, L::kTileHeight);

  static constexpr int kRowTaps = kTiling.row_taps;
  static constexpr int kHaloWidth = kTiling.halo_width;
  static constexpr int kHaloPitch = kTiling.halo_pitch;
  static constexpr int kLoadedPixels = kTiling.loaded_pixels;
  static constexpr int kVector = kTiling.vector;
  static constexpr int kPixelVectors = kTiling.pixel_vectors;
  static constexpr int kLoads = kTiling.loads;

  static constexpr int kPixelBytes = kTiling.pixel_bytes;
  static constexpr int kInputBytes = kTiling.input_bytes;
  static constexpr int kWeightBytes = kTiling.weight_bytes;
  static constexpr int kChannelSteps = kTiling.channel_steps;
  static constexpr int kSteps = kTiling.steps;
  static constexpr int kBlockSteps = kTiling.block_steps;
  static constexpr bool kAllInFlight = kBlockSteps <= L::kStages;
  static constexpr int kStages = kTiling.stages;
  static constexpr int kPrefetchStages = kAllInFlight ? kStages : kStages - 1;
  static_assert(kPrefetchStages > 0, "a pipeline needs two stages");

  // Partial accumulators, in vectors of 4.
  static constexpr int kPositions = L::kWarpsM * L::kWarpsN;
  static constexpr int kItems = kTiling.items;
  static constexpr int kItemVectors = kTiling.lane / 4;
  static constexpr int kOwned = kTiling.owned;
  static constexpr bool kDirect = L::kWarpsK == 1 && L::kSplit == 1;
  static constexpr int kReceiveBytes = kTiling.receive_bytes;
  static constexpr int kBarrierAt = kTiling.barrier_at;
  static_assert(kTiling.lane == Warp::kLane && kTiling.warp_items == Warp::kItems, "an item is that of WarpTile");
  /// Items that a warp stores.
  static constexpr int kEpilogueItems = kDirect         ? Warp::kItems
                                        : L::kSplit > 1 ? ceil_div(kOwned, kThreads / 32)
                                                        : ceil_div(Warp::kItems, L::kWarpsK);
  // A transposed convolution concatenates the filters of its kScaleY x kScaleX output phases.
  static constexpr int kPhases = L::kScaleY * L::kScaleX;
  static constexpr int kPhaseFilters = L::kFilters / kPhases;
  static_assert(kPhases == 1 || (kPhaseFilters % Warp::kLane == 0 && L::kGroups == 1), "a vector spans two phases");
  static constexpr bool kVectorStores = L::kFilters % Warp::kLane == 0 && L::kOutPitch % Warp::kLane == 0;

  static_assert(kFew || L::kStep % (kMmaK * L::kWarpsK) == 0, "sliced K does not divide the k-step");
  static_assert(!kFew || (sizeof(T) == 2 && L::kWarpsK == 1 && L::kSplit == 1), "few channels take one k-step");
  static_assert(L::kTileFilters % (16 * L::kWarpsN) == 0, "a warp takes multiples of 16 filters");
  static_assert(kAllTaps || L::kTileHeight == 1, "gathered tiles are one row of pixels");
};
