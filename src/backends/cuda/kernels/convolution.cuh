#pragma once

#include "tile.cuh"

// Convolution as an implicit matrix product: pixels are rows, filters are columns, the sum runs over taps and channels.
// The host writes a struct Layer of constants (convolution_plan.cpp) and instantiates convolve<Layer>.
//
// What bounds it. At batch 1 a layer is a few MFLOP and takes two or three microseconds: the hand-over from the kernel
// before, the way of the first data into shared memory, and the end of the sum count more than arithmetic. So
//  - all that depends on no activation happens before begin_kernel(): weights are on their way into shared memory (bulk
//    copies of blocks that the host packed in the order of their use, in fragment order, so that they are read without
//    bank conflicts), offsets and the bias are in registers;
//  - a tile's inputs are copied once: a block covers kTileHeight x kTileWidth pixels, their patch of the input lies in
//    shared memory, and the taps are offsets into it (kPatch). One more copy a tap (kGather) is for patches that are
//    larger than that: long dilations. A 1x1 kernel is a gather of one tap;
//  - the sum is split over kWarpsK warps and over kSplit blocks of a cluster, for layers with few pixels have too few
//    tiles for 132 multiprocessors. Partial sums meet in shared memory, those of a cluster in its owner's, by
//    st.async, and are added in a fixed order, so that answers repeat to the bit;
//  - sums leave straight from registers in vectors of 8 filters (tile.cuh).
//
// A step of the sum is kStep channels (of all taps, or of one where it gathers); kStages steps are on their way at
// once. Where a block has no more steps than stages, nothing is ever waited for but the data itself.
//
// Measured on an H200 in float16 at batch 1, with post-ops, each layer in a captured chain of itself, its weights from
// up to 12 places in turn, all of the carve-out shared memory: the 53 convolutions and the last product of ResNet-50
// take 128 us in sum with each shape's best tile, 132 with the one that the model of convolution_plan.cpp puts first;
// the 61 layers of YOLOv8n's shapes at 640 x 640 138 and 142 us. The smallest layer takes 1.1 us, which is mostly the
// hand-over. Products of a vision transformer's 197 rows reach 70 to 140 TFLOP/s, far under what wgmma could.
//
// Half-precision inputs are multiplied by tensor cores; float32 by FFMA in the same frame, with the same sums per lane.
// Layers of up to 4 channels (kFewChannels: a network's first) keep 4 channels a pixel in shared memory, and a
// fragment's 16 products are 4 neighbouring taps of them.

enum class Window { kGather, kPatch, kFewChannels };

/// What follows from a layer's constants.
template <class L>
struct Tiling {
  using T = typename L::Element;
  static constexpr bool kTensor = sizeof(T) == 2;
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
  static constexpr int kBarrierAt = round_up(greater_of(kRingBytes, kPartialBytes), 128) + kReceiveBytes;
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

  static_assert(kFew || L::kStep % ((kTensor ? 16 : 4) * L::kWarpsK) == 0, "warps can't share a step");
  static_assert(!kFew || (kTensor && L::kWarpsK == 1 && L::kSplit == 1), "few channels are one step");
  static_assert(L::kTileFilters % (16 * L::kWarpsN) == 0, "a warp has multiples of 16 filters");
  static_assert(kWhole || L::kTileHeight == 1, "gathered tiles are lines of pixels");
};

/// Which elements of the input a thread copies, worked out before there is any.
template <class L>
struct InputCopies {
  using S = Tiling<L>;
  using T = typename L::Element;

  /// Element offsets of this thread's vectors at channel 0; of the first tap, and maybe outside, where it gathers.
  int from[S::kCopies];
  int place[S::kWhole ? 1 : S::kCopies];  // of the window's first tap: y and x, 16 bits each

  __device__ __forceinline__ void aim(int image, int y, int x, int first_pixel, int group) {
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      const int row = at / S::kPixelVectors;
      const int channel = group * L::kChannels + at % S::kPixelVectors * S::kVector;
      if constexpr (S::kWhole) {
        const int in_y = y * L::kStrideY - L::kPadY + row / S::kPatchWidth;
        const int in_x = x * L::kStrideX - L::kPadX + row % S::kPatchWidth;
        from[i] = inside(in_y, in_x) && row < S::kCopied
                      ? ((image * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel
                      : -1;
      } else {
        const int pixel = first_pixel + row;
        const int line = pixel / L::kOutWidth;
        const int in_y = line % L::kOutHeight * L::kStrideY - L::kPadY;
        const int in_x = pixel % L::kOutWidth * L::kStrideX - L::kPadX;
        from[i] = ((line / L::kOutHeight * L::kHeight + in_y) * L::kWidth + in_x) * L::kInPitch + channel;
        place[i] = pixel < S::kPixels && row < S::kCopied ? in_y * 65536 + (in_x & 0xFFFF) : -32768 * 65536;
      }
    }
  }
  static __device__ __forceinline__ bool inside(int y, int x) {
    return static_cast<unsigned>(y) < static_cast<unsigned>(L::kHeight) &&
           static_cast<unsigned>(x) < static_cast<unsigned>(L::kWidth);
  }

  __device__ __forceinline__ void copy(unsigned char* stage, const T* __restrict__ input, int step) const {
    const int tap = S::kWhole ? 0 : step / S::kChannelSteps;
    const int channel = S::kWhole || S::kTaps > 1 ? step % S::kChannelSteps * L::kStep : step * L::kStep;
    const int tap_y = tap / L::kKernelWidth * L::kDilationY;
    const int tap_x = tap % L::kKernelWidth * L::kDilationX;
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int at = threadIdx.x + i * S::kThreads;
      if (S::kCopied * S::kPixelVectors % S::kThreads != 0 && i == S::kCopies - 1 &&
          at >= S::kCopied * S::kPixelVectors)
        break;
      const int row = at / S::kPixelVectors;
      const int vector = at % S::kPixelVectors;
      int held = row;
      bool valid;
      int offset = from[i] + channel;
      if constexpr (S::kWhole) {
        held = row / S::kPatchWidth * S::kLinePixels + row % S::kPatchWidth;
        valid = from[i] >= 0;
      } else {
        valid = inside((place[i] >> 16) + tap_y, static_cast<short>(place[i] & 0xFFFF) + tap_x);
        offset += (tap_y * L::kWidth + tap_x) * L::kInPitch;
      }
      if constexpr (L::kChannels % L::kStep != 0) valid = valid && channel + vector * S::kVector < L::kChannels;
      T* to = reinterpret_cast<T*>(stage + held * S::kPixelBytes) + vector * S::kVector;
      copy_elements<S::kVector>(to, valid ? input + offset : input, valid);
    }
  }

  /// Pixels of up to 4 channels: the rest is zero.
  __device__ __forceinline__ void copy_few(unsigned char* stage, const T* __restrict__ input) const {
    Packed<T, 4> pixel[S::kCopies];
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
#pragma unroll
      for (int c = 0; c < 4; ++c) pixel[i].data[c] = c < L::kChannels && from[i] >= 0 ? input[from[i] + c] : T{};
    }
#pragma unroll
    for (int i = 0; i < S::kCopies; ++i) {
      const int row = threadIdx.x + i * S::kThreads;
      if (row < S::kCopied)
        *reinterpret_cast<Packed<T, 4>*>(stage + (row / S::kPatchWidth * S::kLinePixels + row % S::kPatchWidth) *
                                                     S::kPixelBytes) = pixel[i];
    }
  }
};

/// What a warp multiplies of a stage: where its rows and its weights lie.
template <class L>
struct Multiplier {
  using S = Tiling<L>;
  using T = typename L::Element;
  static constexpr int kM = S::kM;
  static constexpr int kN = S::kN;

  int rows[2 * kM];  // bytes into the stage, of rows 16 m + g and 16 m + g + 8 (tensor cores: of one row a lane)
  int weights;       // bytes into the stage's weights

  static __device__ __forceinline__ int held(int row) {
    if (row >= S::kTilePixels) row = 0;  // not stored in the end
    if constexpr (!S::kWhole) return row;
    return row / L::kTileWidth * L::kStrideY * S::kLinePixels + row % L::kTileWidth * L::kStrideX;
  }

  __device__ __forceinline__ void aim(int warp_m, int warp_n, int warp_k, int lane) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const int first = (warp_m * kM + m) * 16;
      if constexpr (S::kTensor && !S::kFew) {
        rows[m] = held(first + lane % 16) * S::kPixelBytes + warp_k * 32 + lane / 16 * 16;
      } else {
        // Lane q of a row takes channels 2 q of 4 a pixel (two lanes a tap), or all.
        const int along = S::kFew ? lane % 4 / 2 * L::kDilationX * S::kPixelBytes + lane % 2 * 4 : warp_k * 16;
        rows[2 * m] = held(first + lane / 4) * S::kPixelBytes + along;
        rows[2 * m + 1] = held(first + lane / 4 + 8) * S::kPixelBytes + along;
      }
    }
    weights = S::kTensor ? ((warp_k * (L::kTileFilters / 16) + warp_n * (kN / 2)) * 32 + lane) * 16
                         : (warp_k * 4 * L::kTileFilters + warp_n * kN * 8 + lane % 4 * S::Warp::kLane) * 4;
  }

  static __device__ __forceinline__ int tap_offset(int tap) {
    if constexpr (!S::kWhole) return 0;
    return (tap / L::kKernelWidth * L::kDilationY * S::kLinePixels + tap % L::kKernelWidth * L::kDilationX) *
           S::kPixelBytes;
  }

  __device__ __forceinline__ void run(float (&sums)[kM][kN][4], const unsigned char* input,
                                      const unsigned char* block) const {
    if constexpr (S::kTensor) {
      run_tensor(sums, input, block);
    } else {
      run_float(sums, input, block);
    }
  }

  struct Fragments {
    uint32 a[kM][4];
    uint4 b[kN / 2];
  };
  static constexpr int kUnits =
      S::kFew ? L::kKernelHeight * S::kLineTaps / 4 : (S::kWhole ? S::kTaps : 1) * L::kStep / 16 / L::kWarpsK;

  __device__ __forceinline__ void load(Fragments& f, const unsigned char* input, const unsigned char* block,
                                       int unit) const {
    if constexpr (S::kFew) {
      const int tap_y = unit / (S::kLineTaps / 4);
      const int tap_x = unit % (S::kLineTaps / 4) * 4;
      const int offset = (tap_y * L::kDilationY * S::kLinePixels + tap_x * L::kDilationX) * S::kPixelBytes;
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          f.a[m][i] = *reinterpret_cast<const uint32*>(input + rows[2 * m + i % 2] + offset +
                                                       i / 2 * 2 * L::kDilationX * S::kPixelBytes);
    } else {
      constexpr int kTapUnits = L::kStep / 16 / L::kWarpsK;
      const int offset = tap_offset(unit / kTapUnits) + unit % kTapUnits * L::kWarpsK * 32;
#pragma unroll
      for (int m = 0; m < kM; ++m) load_matrices(f.a[m], input + rows[m] + offset);
    }
#pragma unroll
    for (int n = 0; n < kN / 2; ++n)
      f.b[n] =
          *reinterpret_cast<const uint4*>(block + weights + (unit * L::kWarpsK * (L::kTileFilters / 16) + n) * 512);
  }

  __device__ __forceinline__ void run_tensor(float (&sums)[kM][kN][4], const unsigned char* input,
                                             const unsigned char* block) const {
    constexpr int kBuffers = 3;  // the data of two units are under way
    Fragments fragments[kBuffers];
#pragma unroll
    for (int unit = 0; unit < kBuffers - 1 && unit < kUnits; ++unit) load(fragments[unit], input, block, unit);
    constexpr int kUnroll = kUnits <= 18 ? kUnits : kUnits % 9 == 0 ? 18 : 6;
#pragma unroll kUnroll
    for (int unit = 0; unit < kUnits; ++unit) {
      if (unit + kBuffers - 1 < kUnits)
        load(fragments[(unit + kBuffers - 1) % kBuffers], input, block, unit + kBuffers - 1);
      const Fragments& f = fragments[unit % kBuffers];
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int n = 0; n < kN; ++n) {
          const uint32 b[2] = {n % 2 == 0 ? f.b[n / 2].x : f.b[n / 2].z, n % 2 == 0 ? f.b[n / 2].y : f.b[n / 2].w};
          multiply_add<T>(sums[m][n], f.a[m], b);
        }
    }
  }

  __device__ __forceinline__ void run_float(float (&sums)[kM][kN][4], const unsigned char* input,
                                            const unsigned char* block) const {
    constexpr int kTapUnits = L::kStep / 4 / L::kWarpsK;
    constexpr int kFloatUnits = (S::kWhole ? S::kTaps : 1) * kTapUnits;
#pragma unroll 1
    for (int unit = 0; unit < kFloatUnits; ++unit) {
      const int offset = tap_offset(unit / kTapUnits) + unit % kTapUnits * L::kWarpsK * 16;
      Packed<float, 4> a[2 * kM];
#pragma unroll
      for (int i = 0; i < 2 * kM; ++i) a[i] = *reinterpret_cast<const Packed<float, 4>*>(input + rows[i] + offset);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        float b[2 * kN];
#pragma unroll
        for (int n = 0; n < 2 * kN; n += 4) {
          const int filter = n / S::Warp::kLane * 8 * S::Warp::kGroup + n % S::Warp::kLane;
          const auto four = *reinterpret_cast<const Packed<float, 4>*>(
              block + weights + ((unit * L::kWarpsK * 4 + c) * L::kTileFilters + filter) * 4);
#pragma unroll
          for (int i = 0; i < 4; ++i) b[n + i] = four.data[i];
        }
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int n = 0; n < kN; ++n)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[m][n][i] = fmaf(a[2 * m + i / 2].data[c], b[2 * n + i % 2], sums[m][n][i]);
      }
    }
  }
};

/// Where a warp's items go.
template <class L>
struct OutputTargets {
  using S = Tiling<L>;
  using T = typename L::Element;
  using Warp = typename S::Warp;
  static constexpr int kLane = Warp::kLane;

  int offset[S::kTargets];  // in elements; -1: nowhere
  int filters[S::kVectorStores ? 1 : S::kTargets];
  Packed<float, kLane> bias[S::kDirect ? Warp::kGroups : S::kTargets];

  __device__ __forceinline__ void aim(const float* __restrict__ biases, int image, int y, int x, int first_pixel,
                                      int filter_tile, int group, int rank) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t) {
      const int id = item(t, warp, rank);
      const int position = id / Warp::kItems;
      const int row = position % L::kWarpsM * S::kM * 16 + Warp::row(id % Warp::kItems, lane);
      const int filter =
          filter_tile * L::kTileFilters + position / L::kWarpsM * S::kN * 8 + Warp::column(id % Warp::kItems, lane);
      bool valid = row < S::kTilePixels && (S::kDirect || id < S::kItems) && filter < L::kFilters;
      const int pixel = first_pixel + row;
      const int line = pixel / L::kOutWidth;
      const int out_y = S::kWhole ? y + row / L::kTileWidth : line % L::kOutHeight;
      const int out_x = S::kWhole ? x + row % L::kTileWidth : pixel % L::kOutWidth;
      const int of = S::kWhole ? image : line / L::kOutHeight;
      valid = valid && (S::kWhole ? out_y < L::kOutHeight && out_x < L::kOutWidth : pixel < S::kPixels);
      if constexpr (S::kPhases > 1) {
        const int phase = filter / S::kPhaseFilters;
        const int scaled_y = out_y * L::kScaleY + phase / L::kScaleX;
        const int scaled_x = out_x * L::kScaleX + phase % L::kScaleX;
        valid = valid && scaled_y < L::kScaledHeight && scaled_x < L::kScaledWidth;
        const int place = (of * L::kScaledHeight + scaled_y) * L::kScaledWidth + scaled_x;
        offset[t] = valid ? place * L::kOutPitch + filter % S::kPhaseFilters : -1;
      } else {
        const int place = S::kWhole ? (of * L::kOutHeight + out_y) * L::kOutWidth + out_x : pixel;
        offset[t] = valid ? place * L::kOutPitch + group * L::kFilters + filter : -1;
      }
      if constexpr (!S::kVectorStores) filters[t] = lesser_of(L::kFilters - filter, kLane);
      // The host pads the bias to whole tiles.
      const int tile = group * ceil_div(L::kFilters, L::kTileFilters) * L::kTileFilters;
      if (!S::kDirect) {
        bias[t] = load_packed<kLane>(biases + tile + (id < S::kItems ? filter : 0));
      } else if (t < Warp::kGroups) {
        bias[t] = load_packed<kLane>(biases + tile + filter);
      }
    }
  }

  /// Target number T of a warp, as an item of the block; beyond S::kItems (with slices of one block: of its position's)
  /// there is none.
  static __device__ __forceinline__ int item(int t, int warp, int rank) {
    if constexpr (L::kSplit > 1) return rank + L::kSplit * (warp + t * (S::kThreads / 32));
    const int within = warp / S::kPositions + t * L::kWarpsK;
    return within < Warp::kItems ? warp % S::kPositions * Warp::kItems + within : S::kItems;
  }

  template <class PostOps>
  __device__ __forceinline__ void store(T* __restrict__ output, float (&x)[kLane], int t, const PostOps& post_ops,
                                        const typename PostOps::template Operands<kLane>* operands) const {
    if (offset[t] < 0) return;
#pragma unroll
    for (int i = 0; i < kLane; ++i) x[i] += bias[S::kDirect ? t % Warp::kGroups : t].data[i];
    if constexpr (S::kVectorStores) {
      post_ops.apply(x, operands != nullptr ? *operands : post_ops.template load<kLane>(offset[t]));
      store_packed(output + offset[t], x);
    } else {
#pragma unroll
      for (int i = 0; i < kLane; ++i) {
        if (i >= filters[t]) break;
        float one[1] = {x[i]};
        post_ops.apply(one, post_ops.template load<1>(offset[t] + i));
        output[offset[t] + i] = Narrow<T>::from(one[0]);
      }
    }
  }
};

/// Adds up what several warps, or blocks, summed, and stores it.
template <class L, class PostOps>
__device__ __forceinline__ void reduce_and_store(
    const float (&sums)[Tiling<L>::kM][Tiling<L>::kN][4], unsigned char* shared, uint64* barrier, int rank,
    const OutputTargets<L>& targets, typename L::Element* __restrict__ output, const PostOps& post_ops,
    const typename PostOps::template Operands<OutputTargets<L>::kLane>* operands) {
  using S = Tiling<L>;
  using Warp = typename S::Warp;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int position = warp % S::kPositions;
  float4* partials = reinterpret_cast<float4*>(shared);
  float4* received = reinterpret_cast<float4*>(shared + S::kBarrierAt - S::kReceiveBytes);
  const auto part = [&](int k, int id, int v) { return ((k * S::kItems + id) * S::kItemVectors + v) * 32 + lane; };

  if constexpr (L::kWarpsK > 1) {
    __syncthreads();  // the ring is read no more
#pragma unroll
    for (int i = 0; i < Warp::kItems; ++i) {
      float x[Warp::kLane];
      Warp::take(x, sums, i);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v)
        partials[part(warp / S::kPositions, position * Warp::kItems + i, v)] =
            make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
    }
    __syncthreads();
  }
  const auto summed = [&](const float4* from, int count, int stride, int first) {
    float4 sum = from[first];
    for (int k = 1; k < count; ++k) {
      const float4 more = from[first + k * stride];
      sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
    }
    return sum;
  };
  if constexpr (L::kSplit > 1) {
    wait_for_cluster();
    // Every block's sum of an item goes to the item's owner.
#pragma unroll
    for (int t = 0; t < ceil_div(Warp::kItems, L::kWarpsK); ++t) {
      const int within = warp / S::kPositions + t * L::kWarpsK;
      if (within >= Warp::kItems) break;
      const int id = position * Warp::kItems + within;
      float x[Warp::kLane];
      if constexpr (L::kWarpsK == 1) Warp::take(x, sums, t);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v) {
        float4 sum;
        if constexpr (L::kWarpsK > 1) {
          sum = summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
        } else {
          sum = make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
        }
        float4* to = received + ((rank * S::kOwned + id / L::kSplit) * S::kItemVectors + v) * 32 + lane;
        store_to_peer(id % L::kSplit, to, sum, barrier);
      }
    }
    if (rank < S::kItems) wait_barrier(barrier, 0);
  }
#pragma unroll
  for (int t = 0; t < S::kTargets; ++t) {
    const int id = OutputTargets<L>::item(t, warp, rank);
    if (id >= S::kItems) break;
    float x[Warp::kLane];
#pragma unroll
    for (int v = 0; v < S::kItemVectors; ++v) {
      const float4 sum = L::kSplit > 1 ? summed(received, L::kSplit, S::kOwned * S::kItemVectors * 32,
                                                (id / L::kSplit * S::kItemVectors + v) * 32 + lane)
                                       : summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
      x[4 * v] = sum.x, x[4 * v + 1] = sum.y, x[4 * v + 2] = sum.z, x[4 * v + 3] = sum.w;
    }
    targets.store(output, x, t, post_ops, operands == nullptr ? nullptr : operands + t);
  }
}

/// The whole kernel. INPUT and OUTPUT are NHWC (the output kScaledHeight x kScaledWidth where there are phases);
/// WEIGHTS are blocks of Tiling::kWeightBytes by group, tile of filters and step; BIASES one float a filter, padded to
/// whole tiles a group. Grid: tiles of pixels, tiles of filters of all groups, kSplit blocks of a cluster.
template <class L, class PostOps>
__device__ __forceinline__ void convolve(const typename L::Element* __restrict__ input,
                                         const unsigned char* __restrict__ weights, const float* __restrict__ biases,
                                         typename L::Element* __restrict__ output, const PostOps& post_ops) {
  using S = Tiling<L>;
  static_assert(S::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* barriers = reinterpret_cast<uint64*>(shared + S::kBarrierAt);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int rank = L::kSplit > 1 ? blockIdx.z : 0;
  const int first_step = rank * S::kBlockSteps;
  const int steps = L::kSplit > 1 ? greater_of(lesser_of(S::kSteps - first_step, S::kBlockSteps), 0) : S::kSteps;
  const unsigned char* my_weights =
      weights + (static_cast<int64>(blockIdx.y) * S::kSteps + first_step) * S::kWeightBytes;
  const auto input_of = [&](int stage) { return shared + stage * (S::kInputBytes + S::kWeightBytes); };
  const auto weights_of = [&](int stage) { return input_of(stage) + S::kInputBytes; };
  const auto copy_weights = [&](int step) {
    const int stage = step % S::kStages;
    if constexpr (kHasBulkCopies) {
      if (threadIdx.x == 0) {
        expect_bytes(barriers + stage, S::kWeightBytes);
        copy_bulk(weights_of(stage), my_weights + static_cast<int64>(step) * S::kWeightBytes, S::kWeightBytes,
                  barriers + stage);
      }
    } else {
      for (int at = threadIdx.x * 16; at < S::kWeightBytes; at += S::kThreads * 16)
        copy_async_16(weights_of(stage) + at, my_weights + static_cast<int64>(step) * S::kWeightBytes + at, true);
    }
  };

  if constexpr (kHasBulkCopies) {
    if (threadIdx.x == 0) {
      for (int i = 0; i <= S::kStages; ++i) init_barrier(barriers + i);
      fence_barriers();
      if constexpr (L::kSplit > 1)
        if (rank < S::kItems)
          expect_bytes(barriers + S::kStages,
                       ceil_div(S::kItems - rank, L::kSplit) * L::kSplit * S::kItemVectors * 512);
    }
  }
  for (int step = 0; step < lesser_of(S::kAhead, steps); ++step) copy_weights(step);
  if constexpr (L::kSplit > 1) {
    __syncwarp();
    greet_cluster();
  }

  // The tile.
  constexpr int kFilterTiles = ceil_div(L::kFilters, L::kTileFilters);
  const int group = L::kGroups > 1 ? blockIdx.y / kFilterTiles : 0;
  const int filter_tile = L::kGroups > 1 ? blockIdx.y % kFilterTiles : blockIdx.y;
  const int tile = blockIdx.x;
  const int image = tile / (S::kTilesX * S::kTilesY);
  const int y = tile / S::kTilesX % S::kTilesY * L::kTileHeight;
  const int x = tile % S::kTilesX * L::kTileWidth;
  const int first_pixel = tile * S::kTilePixels;

  InputCopies<L> copies;
  copies.aim(image, y, x, first_pixel, group);
  Multiplier<L> multiplier;
  multiplier.aim(warp % L::kWarpsM, warp % S::kPositions / L::kWarpsM, warp / S::kPositions, lane);
  OutputTargets<L> targets;
  targets.aim(biases, image, y, x, first_pixel, filter_tile, group, rank);
  float sums[S::kM][S::kN][4] = {};
  if constexpr (kHasBulkCopies) __syncthreads();  // the barriers are ready

  begin_kernel();

  const auto copy_inputs = [&](int step) {
    if constexpr (S::kFew) {
      copies.copy_few(input_of(0), input);
    } else {
      copies.copy(input_of(step % S::kStages), input, first_step + step);
    }
  };
  for (int step = 0; step < S::kAhead; ++step) {
    if (step < steps) copy_inputs(step);
    commit_copies();
  }
  // Few operands are fetched now, many once the registers of the loop are free.
  constexpr bool kEarly = S::kVectorStores && S::kTargets <= 4;
  typename PostOps::template Operands<S::Warp::kLane> operands[S::kTargets];
  if constexpr (kEarly) {
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t)
      if (targets.offset[t] >= 0) operands[t] = post_ops.template load<S::Warp::kLane>(targets.offset[t]);
  }

#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int stage = step % S::kStages;
    if constexpr (S::kAllAtOnce) {
      wait_copies_until<S::kAhead - 1>(S::kAhead - 1 - step);
    } else {
      wait_copies<S::kAhead - 1>();
    }
    if constexpr (kHasBulkCopies) wait_barrier(barriers + stage, step / S::kStages % 2);
    __syncthreads();
    if constexpr (!S::kAllAtOnce) {
      // The stage that was multiplied last is free.
      if (step + S::kAhead < steps) {
        copy_weights(step + S::kAhead);
        copy_inputs(step + S::kAhead);
      }
      commit_copies();
    }
    multiplier.run(sums, input_of(stage), weights_of(stage));
  }

  if constexpr (S::kDirect) {
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t) {
      float values[S::Warp::kLane];
      S::Warp::take(values, sums, t);
      targets.store(output, values, t, post_ops, kEarly ? operands + t : nullptr);
    }
  } else {
    reduce_and_store<L>(sums, shared, barriers + S::kStages, rank, targets, output, post_ops,
                        kEarly ? operands : nullptr);
  }
}
