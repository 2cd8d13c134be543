#pragma once

#include "convolution_traits.cuh"

// Main loop of convolution.cuh: fragment loads and MMA on one pipeline stage.

/// Fragment addresses and MMA of one warp.
template <class L>
struct WarpMma {
  using S = ConvolutionTraits<L>;
  using T = typename L::Element;
  using Accumulator = typename S::Accumulator;
  static constexpr int kM = S::kM;
  static constexpr int kN = S::kN;

  int rows[2 * kM];  // byte offsets within the stage of rows 16 m + g and 16 m + g + 8 (tensor cores: one row per lane)
  int weights;       // byte offset within the stage's weights

  static __device__ __forceinline__ int smem_pixel(int row) {
    if (row >= S::kTilePixels) row = 0;  // padding row, never stored
    if constexpr (!S::kAllTaps) return row;
    return row / L::kTileWidth * L::kStrideY * S::kHaloPitch + row % L::kTileWidth * L::kStrideX;
  }

  __device__ __forceinline__ void init(int warp_m, int warp_n, int warp_k, int lane) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      const int first = (warp_m * kM + m) * 16;
      if constexpr (S::kTensor && !S::kFew) {
        rows[m] = smem_pixel(first + lane % 16) * S::kPixelBytes + warp_k * 32 + lane / 16 * 16;
      } else {
        // kFewChannels: lane q reads channels 2 q of 4 per pixel (two lanes per tap); FFMA: all lanes read the same k.
        const int along = S::kFew ? lane % 4 / 2 * L::kDilationX * S::kPixelBytes + lane % 2 * 4 : warp_k * 16;
        rows[2 * m] = smem_pixel(first + lane / 4) * S::kPixelBytes + along;
        rows[2 * m + 1] = smem_pixel(first + lane / 4 + 8) * S::kPixelBytes + along;
      }
    }
    weights = S::kTensor ? ((warp_k * (L::kTileFilters / 16) + warp_n * (kN / 2)) * 32 + lane) * 16
                         : (warp_k * 4 * L::kTileFilters + warp_n * kN * 8 + lane % 4 * S::Warp::kLane) * 4;
  }

  static __device__ __forceinline__ int tap_offset(int tap) {
    if constexpr (!S::kAllTaps) return 0;
    return (tap / L::kKernelWidth * L::kDilationY * S::kHaloPitch + tap % L::kKernelWidth * L::kDilationX) *
           S::kPixelBytes;
  }

  __device__ __forceinline__ void run(Accumulator (&acc)[kM][kN][4], const unsigned char* input,
                                      const unsigned char* block) const {
    if constexpr (S::kTensor) {
      run_tensor(acc, input, block);
    } else {
      run_float(acc, input, block);
    }
  }

  struct Fragments {
    uint32 a[kM][4];
    uint4 b[kN / 2];
  };
  static constexpr int kMmaSteps =
      S::kFew ? L::kKernelHeight * S::kRowTaps / 4 : (S::kAllTaps ? S::kTaps : 1) * L::kStep / S::kMmaK / L::kWarpsK;

  static constexpr int kBuffers = 3;  // fragments of the next two MMA steps are in flight

  /// Unroll factor: all steps if few, else a multiple of kBuffers that divides them, so that buffer indices are
  /// compile-time constants and fragments stay in registers.
  static constexpr __device__ __forceinline__ int unrolled() {
    if (kMmaSteps <= 18) return kMmaSteps;
    for (int count = 18; count > 0; count -= kBuffers)
      if (kMmaSteps % count == 0) return count;
    return kMmaSteps <= 50 ? kMmaSteps : 18;
  }

  __device__ __forceinline__ void load(Fragments& f, const unsigned char* input, const unsigned char* block,
                                       int unit) const {
    if constexpr (S::kFew) {
      const int tap_y = unit / (S::kRowTaps / 4);
      const int tap_x = unit % (S::kRowTaps / 4) * 4;
      const int offset = (tap_y * L::kDilationY * S::kHaloPitch + tap_x * L::kDilationX) * S::kPixelBytes;
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32 pair = *reinterpret_cast<const uint32*>(input + rows[2 * m + i % 2] + offset +
                                                               i / 2 * 2 * L::kDilationX * S::kPixelBytes);
          // Taps that pad the row have zero weights, but their inputs are neighbours, which may be NaN or infinite.
          const bool is_padding = tap_x + i / 2 * 2 + static_cast<int>(threadIdx.x % 4 / 2) >= L::kKernelWidth;
          f.a[m][i] = is_padding ? 0 : pair;
        }
    } else {
      constexpr int kTapMmaSteps = L::kStep / S::kMmaK / L::kWarpsK;
      const int offset = tap_offset(unit / kTapMmaSteps) + unit % kTapMmaSteps * L::kWarpsK * 32;
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        ldmatrix_x4(f.a[m], input + rows[m] + offset);
        if constexpr (L::kTf32) {
#pragma unroll
          for (int i = 0; i < 4; ++i) f.a[m][i] = to_tf32(__uint_as_float(f.a[m][i]));
        }
      }
    }
#pragma unroll
    for (int n = 0; n < kN / 2; ++n)
      f.b[n] =
          *reinterpret_cast<const uint4*>(block + weights + (unit * L::kWarpsK * (L::kTileFilters / 16) + n) * 512);
  }

  __device__ __forceinline__ void run_tensor(Accumulator (&acc)[kM][kN][4], const unsigned char* input,
                                             const unsigned char* block) const {
    Fragments fragments[kBuffers];
#pragma unroll
    for (int unit = 0; unit < kBuffers - 1 && unit < kMmaSteps; ++unit) load(fragments[unit], input, block, unit);
    constexpr int kUnroll = unrolled();
#pragma unroll kUnroll
    for (int unit = 0; unit < kMmaSteps; ++unit) {
      if (unit + kBuffers - 1 < kMmaSteps)
        load(fragments[(unit + kBuffers - 1) % kBuffers], input, block, unit + kBuffers - 1);
      const Fragments& f = fragments[unit % kBuffers];
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int n = 0; n < kN; ++n) {
          const uint32 b[2] = {n % 2 == 0 ? f.b[n / 2].x : f.b[n / 2].z, n % 2 == 0 ? f.b[n / 2].y : f.b[n / 2].w};
          if constexpr (L::kTf32) {
            mma_m16n8k8_tf32(acc[m][n], f.a[m], b);
          } else if constexpr (S::kBytes) {
            mma_m16n8k32<typename T::Byte>(acc[m][n], f.a[m], b);
          } else {
            mma_m16n8k16<T>(acc[m][n], f.a[m], b);
          }
        }
    }
  }

  __device__ __forceinline__ void run_float(float (&acc)[kM][kN][4], const unsigned char* input,
                                            const unsigned char* block) const {
    constexpr int kTapMmaSteps = L::kStep / 4 / L::kWarpsK;
    constexpr int kFmaSteps = (S::kAllTaps ? S::kTaps : 1) * kTapMmaSteps;
#pragma unroll 1
    for (int unit = 0; unit < kFmaSteps; ++unit) {
      const int offset = tap_offset(unit / kTapMmaSteps) + unit % kTapMmaSteps * L::kWarpsK * 16;
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
            for (int i = 0; i < 4; ++i) acc[m][n][i] = fmaf(a[2 * m + i / 2].data[c], b[2 * n + i % 2], acc[m][n][i]);
      }
    }
  }
};
