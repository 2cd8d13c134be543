#pragma once

#include "convolution_tiling.cuh"

// How convolution.cuh multiplies what lies in shared memory.

/// What a warp multiplies of a stage: where its rows and its weights lie.
template <class L>
struct Multiplier {
  using S = Tiling<L>;
  using T = typename L::Element;
  using Sum = typename S::Sum;
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

  __device__ __forceinline__ void run(Sum (&sums)[kM][kN][4], const unsigned char* input,
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
      S::kFew ? L::kKernelHeight * S::kLineTaps / 4 : (S::kWhole ? S::kTaps : 1) * L::kStep / S::kUnit / L::kWarpsK;

  static constexpr int kBuffers = 3;  // the data of two units are under way

  /// Units that are written out: all of a few, else a multiple of the buffers that leaves none over, so that the
  /// compiler knows a unit's buffer, which are registers.
  static constexpr __device__ __forceinline__ int unrolled() {
    if (kUnits <= 18) return kUnits;
    for (int count = 18; count > 0; count -= kBuffers)
      if (kUnits % count == 0) return count;
    return kUnits <= 50 ? kUnits : 18;
  }

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
      constexpr int kTapUnits = L::kStep / S::kUnit / L::kWarpsK;
      const int offset = tap_offset(unit / kTapUnits) + unit % kTapUnits * L::kWarpsK * 32;
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

  __device__ __forceinline__ void run_tensor(Sum (&sums)[kM][kN][4], const unsigned char* input,
                                             const unsigned char* block) const {
    Fragments fragments[kBuffers];
#pragma unroll
    for (int unit = 0; unit < kBuffers - 1 && unit < kUnits; ++unit) load(fragments[unit], input, block, unit);
    constexpr int kUnroll = unrolled();
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
          if constexpr (L::kTf32) {
            mma_m16n8k8_tf32(sums[m][n], f.a[m], b);
          } else if constexpr (S::kBytes) {
            mma_m16n8k32<typename T::Byte>(sums[m][n], f.a[m], b);
          } else {
            mma_m16n8k16<T>(sums[m][n], f.a[m], b);
          }
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
