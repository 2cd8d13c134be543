#pragma once

#include "gemm_tiling.hpp"
#include "tile.cuh"

// Batched GEMM of two activations (a GEMM with a constant B is a 1x1 convolution over M pixels, convolution.cuh). [M,
// K] x [K, N], or [N, K] if kTransB, with leading dimensions kLda and kLdb. A cp.async pipeline of kStages stages of
// kStep along K. Rows in shared memory are padded by 16 bytes, so that 8 of them fall into different banks. Tensor
// cores for half precision, with ldmatrix.trans for B fragments where needed; FFMA for float32. The host writes the
// struct Layer of constants.

/// A layer's shape and tile under the names of GemmTiling.
template <class L>
struct GemmLayerShape {
  static constexpr int element_bytes() { return sizeof(typename L::Element); }
  static constexpr int k = L::kK;
  static constexpr bool transposed = L::kTransB;
};
template <class L>
struct GemmLayerTile {
  static constexpr int m = L::kTileM, n = L::kTileN, step = L::kStep;
  static constexpr int warps_m = L::kWarpsM, warps_n = L::kWarpsN, stages = L::kStages;
};

template <class L>
struct GemmTraits {
  using T = typename L::Element;
  static constexpr GemmTiling kTiling{GemmLayerShape<L>{}, GemmLayerTile<L>{}};
  static constexpr bool kTensor = sizeof(T) == 2;
  static constexpr int kThreads = 32 * L::kWarpsM * L::kWarpsN;
  static constexpr int kM = kTiling.m;
  static constexpr int kN = kTiling.n;
  static constexpr int kSteps = kTiling.steps;
  static constexpr int kAPitch = kTiling.a_pitch;
  static constexpr int kBPitch = kTiling.b_pitch;
  static constexpr int kStageBytes = kTiling.stage_bytes;
  static constexpr int kBExtent = L::kTransB ? L::kK : L::kN;  // contiguous extent of B in global memory

  /// Load vector width: the widest that divides all extents and strides.
  static constexpr int vector(int length, int row, int outer, int inner) {
    for (int bytes = 16; bytes >= 4; bytes /= 4) {
      const int n = bytes / static_cast<int>(sizeof(T));
      if (n > 0 && length % n == 0 && row % n == 0 && outer % n == 0 && inner % n == 0) return n;
    }
    return 1;
  }
  static constexpr int kAVector = vector(L::kK, L::kLda, L::kAOuterStride, L::kAInnerStride);
  static constexpr int kBVector = vector(kBExtent, L::kLdb, L::kBOuterStride, L::kBInnerStride);

  static_assert(L::kStep % 16 == 0 && L::kTileM % (16 * L::kWarpsM) == 0 && L::kTileN % (16 * L::kWarpsN) == 0,
                "tiles are made of 16 x 16");
};

/// Copies ROWS x LENGTH elements starting at FROM; zero-fills from row ROWS_END and element LENGTH_END on.
template <int kRows, int kLength, int kPitch, int kVector, int kThreads, typename T>
__device__ __forceinline__ void load_tile(T* shared, const T* __restrict__ from, int row_stride, int rows_end,
                                          int length_end) {
  constexpr int kVectors = kRows * kLength / kVector;
  constexpr int kLoads = ceil_div(kVectors, kThreads);
  // Full unrolling would keep the addresses of all loads in registers across steps.
  constexpr int kUnrolled = kLoads > (kVector * sizeof(T) == 16 ? 8 : 4) ? 4 : kLoads;
#pragma unroll kUnrolled
  for (int i = 0; i < kLoads; ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (kVectors % kThreads != 0 && at >= kVectors) break;
    const int row = at / (kLength / kVector);
    const int place = at % (kLength / kVector) * kVector;
    const bool valid = row < rows_end && place < length_end;
    copy_elements<kVector>(shared + row * kPitch + place, valid ? from + row * row_stride + place : from, valid);
  }
}

template <class L>
__device__ __forceinline__ void mma_step(float (&acc)[GemmTraits<L>::kM][GemmTraits<L>::kN][4],
                                         const typename L::Element* a_tile, const typename L::Element* b_tile,
                                         int warp_m, int warp_n) {
  using S = GemmTraits<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (S::kTensor) {
#pragma unroll
    for (int k = 0; k < L::kStep; k += 16) {
      uint32 a[S::kM][4];
      uint32 b[S::kN / 2][4];
#pragma unroll
      for (int m = 0; m < S::kM; ++m)
        ldmatrix_x4(a[m], a_tile + ((warp_m * S::kM + m) * 16 + lane % 16) * S::kAPitch + k + lane / 16 * 8);
#pragma unroll
      for (int n = 0; n < S::kN / 2; ++n) {
        const int column = warp_n * S::kN * 8 + n * 16;
        // Matrices 0 and 1 are k 0-7 and 8-15 of the first 8 columns, 2 and 3 those of the next 8.
        if constexpr (L::kTransB) {
          ldmatrix_x4(b[n], b_tile + (column + lane / 16 * 8 + lane % 8) * S::kBPitch + k + lane / 8 % 2 * 8);
        } else {
          ldmatrix_x4_trans(b[n], b_tile + (k + lane % 16) * S::kBPitch + column + lane / 16 * 8);
        }
      }
#pragma unroll
      for (int m = 0; m < S::kM; ++m)
#pragma unroll
        for (int n = 0; n < S::kN; ++n) {
          const uint32 pair[2] = {b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]};
          mma_m16n8k16<T>(acc[m][n], a[m], pair);
        }
    }
  } else {
    const int g = lane / 4;
    const int q = lane % 4;
#pragma unroll 1
    for (int k = 0; k < L::kStep; k += 4) {
      Packed<float, 4> a[2 * S::kM];
#pragma unroll
      for (int i = 0; i < 2 * S::kM; ++i)
        a[i] = load_packed<4>(a_tile + ((warp_m * S::kM + i / 2) * 16 + i % 2 * 8 + g) * S::kAPitch + k);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
#pragma unroll
        for (int n = 0; n < S::kN; ++n) {
          const int column = (warp_n * S::kN + n) * 8 + 2 * q;
          float b[2];
          if constexpr (L::kTransB) {
            b[0] = b_tile[column * S::kBPitch + k + c];
            b[1] = b_tile[(column + 1) * S::kBPitch + k + c];
          } else {
            const auto both = load_packed<2>(b_tile + (k + c) * S::kBPitch + column);
            b[0] = both.data[0], b[1] = both.data[1];
          }
#pragma unroll
          for (int m = 0; m < S::kM; ++m)
#pragma unroll
            for (int i = 0; i < 4; ++i) acc[m][n][i] = fmaf(a[2 * m + i / 2].data[c], b[i % 2], acc[m][n][i]);
        }
      }
    }
  }
}

/// The kernel. BIASES has one element per column, in the operands' type, if kBias. Grid: row tiles, column tiles,
/// batches.
template <class L, class PostOps>
__device__ __forceinline__ void batched_gemm(const typename L::Element* __restrict__ a,
                                             const typename L::Element* __restrict__ b,
                                             const typename L::Element* __restrict__ biases,
                                             typename L::Element* __restrict__ output, const PostOps& post_ops) {
  using S = GemmTraits<L>;
  using T = typename L::Element;
  extern __shared__ __align__(128) unsigned char shared[];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int outer = blockIdx.z / L::kInnerBatches;
  const int inner = blockIdx.z % L::kInnerBatches;
  const int row = blockIdx.x * L::kTileM;
  const int column = blockIdx.y * L::kTileN;
  a += outer * L::kAOuterStride + inner * L::kAInnerStride + row * L::kLda;
  b += outer * L::kBOuterStride + inner * L::kBInnerStride + (L::kTransB ? column * L::kLdb : column);
  float acc[S::kM][S::kN][4] = {};
  pdl_wait_and_trigger();

  const auto load_stage = [&](int step) {
    T* to = reinterpret_cast<T*>(shared + step % L::kStages * S::kStageBytes);
    const int k = step * L::kStep;
    load_tile<L::kTileM, L::kStep, S::kAPitch, S::kAVector, S::kThreads>(to, a + k, L::kLda, L::kM - row, L::kK - k);
    to += L::kTileM * S::kAPitch;
    if constexpr (L::kTransB) {
      load_tile<L::kTileN, L::kStep, S::kBPitch, S::kBVector, S::kThreads>(to, b + k, L::kLdb, L::kN - column,
                                                                           L::kK - k);
    } else {
      load_tile<L::kStep, L::kTileN, S::kBPitch, S::kBVector, S::kThreads>(to, b + k * L::kLdb, L::kLdb, L::kK - k,
                                                                           L::kN - column);
    }
  };
#pragma unroll
  for (int step = 0; step < L::kStages - 1; ++step) {
    if (step < S::kSteps) load_stage(step);
    cp_async_commit();
  }
#pragma unroll 1
  for (int step = 0; step < S::kSteps; ++step) {
    cp_async_wait<L::kStages - 2>();
    __syncthreads();
    if (step + L::kStages - 1 < S::kSteps) load_stage(step + L::kStages - 1);
    cp_async_commit();
    const T* stage = reinterpret_cast<const T*>(shared + step % L::kStages * S::kStageBytes);
    mma_step<L>(acc, stage, stage + L::kTileM * S::kAPitch, warp % L::kWarpsM, warp / L::kWarpsM);
  }

  const int first = blockIdx.z * L::kM * L::kN;
#pragma unroll
  for (int m = 0; m < S::kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int at_row = row + (warp % L::kWarpsM * S::kM + m) * 16 + half * 8 + lane / 4;
#pragma unroll
      for (int n = 0; n < S::kN; ++n) {
        const int at_column = column + (warp / L::kWarpsM * S::kN + n) * 8 + lane % 4 * 2;
        if (at_row >= L::kM || at_column >= L::kN) continue;
        const int offset = first + at_row * L::kN + at_column;
        if constexpr (L::kN % 2 == 0) {
          float x[2] = {acc[m][n][2 * half], acc[m][n][2 * half + 1]};
          if constexpr (L::kBias) x[0] += widen(biases[at_column]), x[1] += widen(biases[at_column + 1]);
          post_ops.apply(x, post_ops.template load<2>(offset));
          store_packed(output + offset, x);
        } else {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            if (at_column + i >= L::kN) break;
            float x[1] = {acc[m][n][2 * half + i]};
            if constexpr (L::kBias) x[0] += widen(biases[at_column + i]);
            post_ops.apply(x, post_ops.template load<1>(offset + i));
            output[offset + i] = Narrow<T>::from(x[0]);
          }
        }
      }
    }
}
