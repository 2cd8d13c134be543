#pragma once

#include "tile.cuh"

// How convolution.cuh divides a layer: what follows from its constants, for the host counts the same.

enum class Window { kGather, kPatch, kFewChannels };

/// What follows from a layer's constants.
template <class L>
struct Tiling {
  using T = typename L::Element;
  using Sum = typename Summed<T>::Sum;
  using Bias = typename Summed<T>::Bias;
  static constexpr bool kBytes = Summed<T>::kBytes;  // channels and kInPitch count pairs
  static constexpr bool kTensor = sizeof(T) == 2 || L::kTf32;
  static constexpr int kUnit = kTensor ? 32 / sizeof(T) : 4;  // products of one step of a warp's arithmetic
  static constexpr bool kFew = L::kWindow == Window::kFewChannels;
  static constexpr bool kWhole = L::kWindow != Window::kGather;  // a step has all taps
  static constexpr int kTaps = L::kKernelHeight * L::kKernelWidth;
  static constexpr int kThreads = 32 * L::kWarpsM * L::kWarpsN * L::kWarpsK;

  static constexpr int kTilePixels = L::kTileHeight * L::kTileWidth;
  static constexpr int kRows = round_up(kTilePixels, 16 * L::kWarpsM);
  static constexpr int kM = kRows / 16 / L::kWarpsM;
  static constexpr int kN = L::kTileFilters / 8 / L::kWarpsN;
  using Warp = WarpTile<kM, kN>;

  // Tiles: of the image, or of all images' pixels in a line.
  static constexpr int kPixels = L::kImages * L::kOutHeight * L::kOutWidth;
  static constexpr int kTilesX = ceil_div(L::kOutWidth, L::kTileWidth);
  static constexpr int kTilesY = ceil_div(L::kOutHeight, L::kTileHeight);

  // The patch: kPatchWidth pixels a line are copied; lines are kLinePixels apart, so that the 8 rows that one
  // instruction reads lie in different banks where a tile's line is no multiple of 8.
  static constexpr int kPatchHeight = (L::kTileHeight - 1) * L::kStrideY + (L::kKernelHeight - 1) * L::kDilationY + 1;
  static constexpr int kLineTaps = kFew ? round_up(L::kKernelWidth, 4) : L::kKernelWidth;
  static constexpr int kPatchWidth = (L::kTileWidth - 1) * L::kStrideX + (kLineTaps - 1) * L::kDilationX + 1;
  static constexpr int kLinePixels = kPatchWidth + ((L::kTileWidth - kPatchWidth) % 8 + 8) % 8;
  static constexpr int kCopied = kWhole ? kPatchHeight * kPatchWidth : kTilePixels;
  static constexpr int kHeld = kWhole ? (kPatchHeight - 1) * kLinePixels + kPatchWidth : kTilePixels;

  // One stage: inputs, weights.
  static constexpr int kPixelBytes = kFew ? 4 * sizeof(T) : L::kStep * sizeof(T) + 16;
  static constexpr int kInputBytes = round_up(kHeld * kPixelBytes, 128);
  static constexpr int kDepth = kFew ? L::kKernelHeight * kLineTaps * 4 : (kWhole ? kTaps : 1) * L::kStep;
  static constexpr int kWeightBytes = kDepth * L::kTileFilters * sizeof(T);
  static constexpr int kChannelSteps = kFew ? 1 : ceil_div(L::kChannels, L::kStep);
  static constexpr int kSteps = kChannelSteps * (kWhole ? 1 : kTaps);
  static constexpr int kBlockSteps = ceil_div(kSteps, L::kSplit);
  static constexpr bool kAllAtOnce = kBlockSteps <= L::kStages;
  static constexpr int kStages = kAllAtOnce ? kBlockSteps : L::kStages;
  static constexpr int kAhead = kAllAtOnce ? kStages : kStages - 1;
  static_assert(kAhead > 0, "a ring of one stage");

  // Vectors that are copied.
  static constexpr int kVector =
      kFew                                                                          ? 4
      : L::kInPitch % (16 / sizeof(T)) == 0 && L::kChannels % (16 / sizeof(T)) == 0 ? 16 / sizeof(T)
      : L::kInPitch % (4 / sizeof(T)) == 0 && L::kChannels % (4 / sizeof(T)) == 0   ? 4 / sizeof(T)
                                                                                    : 1;
  static constexpr int kPixelVectors = kFew ? 1 : L::kStep / kVector;
  static constexpr int kCopies = ceil_div(kCopied * kPixelVectors, kThreads);

  // Partial sums, in vectors of 4.
  static constexpr int kPositions = L::kWarpsM * L::kWarpsN;
  static constexpr int kItems = kPositions * Warp::kItems;
  static constexpr int kItemVectors = Warp::kLane / 4;
  static constexpr int kOwned = ceil_div(kItems, L::kSplit);
  static constexpr bool kDirect = L::kWarpsK == 1 && L::kSplit == 1;
  static constexpr int kPartialBytes = L::kWarpsK == 1 ? 0 : L::kWarpsK * kItems * kItemVectors * 512;
  static constexpr int kRingBytes = kStages * (kInputBytes + kWeightBytes);
  static constexpr int kReceiveBytes = L::kSplit == 1 ? 0 : L::kSplit * kOwned * kItemVectors * 512;
  static constexpr int kBarrierAt = round_up(max_of(kRingBytes, kPartialBytes), 128) + kReceiveBytes;
  static constexpr int kSharedBytes = kBarrierAt + 8 * (kStages + 1);
  /// Items that a warp finishes.
  static constexpr int kTargets = kDirect         ? Warp::kItems
                                  : L::kSplit > 1 ? ceil_div(kOwned, kThreads / 32)
                                                  : ceil_div(Warp::kItems, L::kWarpsK);
  // A transposed convolution's filters are those of kScaleY x kScaleX phases of its output, one after the other.
  static constexpr int kPhases = L::kScaleY * L::kScaleX;
  static constexpr int kPhaseFilters = L::kFilters / kPhases;
  static_assert(kPhases == 1 || (kPhaseFilters % Warp::kLane == 0 && L::kGroups == 1), "a vector of two phases");
  static constexpr bool kVectorStores = L::kFilters % Warp::kLane == 0 && L::kOutPitch % Warp::kLane == 0;

  static_assert(kFew || L::kStep % (kUnit * L::kWarpsK) == 0, "warps can't share a step");
  static_assert(!kFew || (sizeof(T) == 2 && L::kWarpsK == 1 && L::kSplit == 1), "few channels are one step");
  static_assert(L::kTileFilters % (16 * L::kWarpsN) == 0, "a warp has multiples of 16 filters");
  static_assert(kWhole || L::kTileHeight == 1, "gathered tiles are lines of pixels");
};
