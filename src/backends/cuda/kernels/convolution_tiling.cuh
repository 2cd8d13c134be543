#pragma once

#include "tile.cuh"

// Compile-time tiling of convolution.cuh. convolution_plan.cpp computes the same on the host.

enum class InputStaging { kTapGather, kHaloTile, kFewChannels };

/// Derived constants of a layer.
template <class L>
struct Tiling {
  using T = typename L::Element;
  using Accumulator = typename AccumulatorTraits<T>::Accumulator;
  using Bias = typename AccumulatorTraits<T>::Bias;
  static constexpr bool kBytes = AccumulatorTraits<T>::kBytes;  // channels and kInPitch count pairs of bytes
  static constexpr bool kTensor = sizeof(T) == 2 || L::kTf32;
  static constexpr int kMmaK = kTensor ? 32 / sizeof(T) : 4;  // K of one MMA (4 for FFMA)
  static constexpr bool kFew = L::kStaging == InputStaging::kFewChannels;
  static constexpr bool kAllTaps = L::kStaging != InputStaging::kTapGather;  // a k-step covers all taps
  static constexpr int kTaps = L::kKernelHeight * L::kKernelWidth;
  static constexpr int kThreads = 32 * L::kWarpsM * L::kWarpsN * L::kWarpsK;

  static constexpr int kTilePixels = L::kTileHeight * L::kTileWidth;
  static constexpr int kRows = round_up(kTilePixels, 16 * L::kWarpsM);
  static constexpr int kM = kRows / 16 / L::kWarpsM;
  static constexpr int kN = L::kTileFilters / 8 / L::kWarpsN;
  using Warp = WarpTile<kM, kN>;

  // Tiles are 2D within an image, or runs of the flattened pixels of all images.
  static constexpr int kPixels = L::kImages * L::kOutHeight * L::kOutWidth;
  static constexpr int kTilesX = ceil_div(L::kOutWidth, L::kTileWidth);
  static constexpr int kTilesY = ceil_div(L::kOutHeight, L::kTileHeight);

  // The halo tile: rows of kHaloWidth pixels at a pitch of kHaloPitch, chosen so that the 8 rows of one ldmatrix fall
  // into different banks even if the tile width is no multiple of 8.
  static constexpr int kHaloHeight = (L::kTileHeight - 1) * L::kStrideY + (L::kKernelHeight - 1) * L::kDilationY + 1;
  static constexpr int kRowTaps = kFew ? round_up(L::kKernelWidth, 4) : L::kKernelWidth;
  static constexpr int kHaloWidth = (L::kTileWidth - 1) * L::kStrideX + (kRowTaps - 1) * L::kDilationX + 1;
  static constexpr int kHaloPitch = kHaloWidth + ((L::kTileWidth - kHaloWidth) % 8 + 8) % 8;
  static constexpr int kLoadedPixels = kAllTaps ? kHaloHeight * kHaloWidth : kTilePixels;
  static constexpr int kSmemPixels = kAllTaps ? (kHaloHeight - 1) * kHaloPitch + kHaloWidth : kTilePixels;

  // One pipeline stage: inputs, then weights.
  static constexpr int kPixelBytes = kFew ? 4 * sizeof(T) : L::kStep * sizeof(T) + 16;
  static constexpr int kInputBytes = round_up(kSmemPixels * kPixelBytes, 128);
  static constexpr int kDepth = kFew ? L::kKernelHeight * kRowTaps * 4 : (kAllTaps ? kTaps : 1) * L::kStep;
  static constexpr int kWeightBytes = kDepth * L::kTileFilters * sizeof(T);
  static constexpr int kChannelSteps = kFew ? 1 : ceil_div(L::kChannels, L::kStep);
  static constexpr int kSteps = kChannelSteps * (kAllTaps ? 1 : kTaps);
  static constexpr int kBlockSteps = ceil_div(kSteps, L::kSplit);
  static constexpr bool kAllInFlight = kBlockSteps <= L::kStages;
  static constexpr int kStages = kAllInFlight ? kBlockSteps : L::kStages;
  static constexpr int kPrefetchStages = kAllInFlight ? kStages : kStages - 1;
  static_assert(kPrefetchStages > 0, "a pipeline needs two stages");

  // Vector width of input loads.
  static constexpr int kVector =
      kFew                                                                          ? 4
      : L::kInPitch % (16 / sizeof(T)) == 0 && L::kChannels % (16 / sizeof(T)) == 0 ? 16 / sizeof(T)
      : L::kInPitch % (4 / sizeof(T)) == 0 && L::kChannels % (4 / sizeof(T)) == 0   ? 4 / sizeof(T)
                                                                                    : 1;
  static constexpr int kPixelVectors = kFew ? 1 : L::kStep / kVector;
  static constexpr int kLoads = ceil_div(kLoadedPixels * kPixelVectors, kThreads);

  // Partial accumulators, in vectors of 4.
  static constexpr int kPositions = L::kWarpsM * L::kWarpsN;
  static constexpr int kItems = kPositions * Warp::kItems;
  static constexpr int kItemVectors = Warp::kLane / 4;
  static constexpr int kOwned = ceil_div(kItems, L::kSplit);
  static constexpr bool kDirect = L::kWarpsK == 1 && L::kSplit == 1;
  static constexpr int kPartialBytes = L::kWarpsK == 1 ? 0 : L::kWarpsK * kItems * kItemVectors * 512;
  static constexpr int kPipelineBytes = kStages * (kInputBytes + kWeightBytes);
  static constexpr int kReceiveBytes = L::kSplit == 1 ? 0 : L::kSplit * kOwned * kItemVectors * 512;
  static constexpr int kBarrierAt = round_up(max_of(kPipelineBytes, kPartialBytes), 128) + kReceiveBytes;
  static constexpr int kSharedBytes = kBarrierAt + 8 * (kStages + 1);
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
