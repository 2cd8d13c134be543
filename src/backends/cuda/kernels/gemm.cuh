#pragma once

#include "tile.cuh"

// Products of matrices that are both activations (a constant right operand is a convolution's weights: a 1x1 kernel
// over M pixels, convolution.cuh). Batches of [M, K] times [K, N], or [N, K] where kTransposed; rows lie kLeftRow and
// kRightRow elements apart. A ring of kStages steps of kStep products in shared memory, rows 16 bytes longer than their
// data so that 8 of them lie in different banks; tensor cores for halves, whose right fragments ldmatrix turns over
// where it must; FFMA for float32. The host writes the struct Layer of constants.

template <class L>
struct ProductTiling {
  using T = typename L::Element;
  static constexpr bool kTensor = sizeof(T) == 2;
  static constexpr int kThreads = 32 * L::kWarpsM * L::kWarpsN;
  static constexpr int kM = L::kTileM / 16 / L::kWarpsM;
  static constexpr int kN = L::kTileN / 8 / L::kWarpsN;
  static constexpr int kSteps = ceil_div(L::kK, L::kStep);
  static constexpr int kPad = 16 / sizeof(T);
  // The right operand's rows in shared memory: K of them, or N where it is transposed.
  static constexpr int kRightRows = L::kTransposed ? L::kTileN : L::kStep;
  static constexpr int kRightLength = L::kTransposed ? L::kStep : L::kTileN;
  static constexpr int kLeftPitch = L::kStep + kPad;
  static constexpr int kRightPitch = kRightLength + kPad;
  static constexpr int kLeftBytes = L::kTileM * kLeftPitch * sizeof(T);
  static constexpr int kStageBytes = kLeftBytes + kRightRows * kRightPitch * static_cast<int>(sizeof(T));
  static constexpr int kSharedBytes = L::kStages * kStageBytes;
  static constexpr int kRightEnd = L::kTransposed ? L::kK : L::kN;  // of a row's data in memory

  /// Elements that are copied at once: what divides all lengths and strides.
  static constexpr int vector(int length, int row, int outer, int inner) {
    for (int bytes = 16; bytes >= 4; bytes /= 4) {
      const int n = bytes / static_cast<int>(sizeof(T));
      if (n > 0 && length % n == 0 && row % n == 0 && outer % n == 0 && inner % n == 0) return n;
    }
    return 1;
  }
  static constexpr int kLeftVector = vector(L::kK, L::kLeftRow, L::kLeftOuter, L::kLeftInner);
  static constexpr int kRightVector = vector(kRightEnd, L::kRightRow, L::kRightOuter, L::kRightInner);

  static_assert(L::kStep % 16 == 0 && L::kTileM % (16 * L::kWarpsM) == 0 && L::kTileN % (16 * L::kWarpsN) == 0,
                "tiles are made of 16 x 16");
};

/// Copies ROWS x LENGTH elements from FROM on, as far as they lie before row ROWS_END and element LENGTH_END.
template <int kRows, int kLength, int kPitch, int kVector, int kThreads, typename T>
__device__ __forceinline__ void copy_matrix(T* shared, const T* __restrict__ from, int row_stride, int rows_end,
                                            int length_end) {
  constexpr int kVectors = kRows * kLength / kVector;
  constexpr int kCopies = ceil_div(kVectors, kThreads);
  // Unrolled as a whole, each copy would keep its addresses in registers from step to step.
  constexpr int kUnrolled = kCopies > (kVector * sizeof(T) == 16 ? 8 : 4) ? 4 : kCopies;
#pragma unroll kUnrolled
  for (int i = 0; i < kCopies; ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (kVectors % kThreads != 0 && at >= kVectors) break;
    const int row = at / (kLength / kVector);
    const int place = at % (kLength / kVector) * kVector;
    const bool valid = row < rows_end && place < length_end;
    copy_elements<kVector>(shared + row * kPitch + place, valid ? from + row * row_stride + place : from, valid);
  }
}

template <class L>
__device__ __forceinline__ void multiply_product_step(float (&sums)[ProductTiling<L>::kM][ProductTiling<L>::kN][4],
                                                      const typename L::Element* left, const typename L::Element* right,
                                                      int warp_m, int warp_n) {
  using S = ProductTiling<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (S::kTensor) {
#pragma unroll
    for (int k = 0; k < L::kStep; k += 16) {
      uint32 a[S::kM][4];
      uint32 b[S::kN / 2][4];
#pragma unroll
      for (int m = 0; m < S::kM; ++m)
        ldmatrix_x4(a[m], left + ((warp_m * S::kM + m) * 16 + lane % 16) * S::kLeftPitch + k + lane / 16 * 8);
#pragma unroll
      for (int n = 0; n < S::kN / 2; ++n) {
        const int column = warp_n * S::kN * 8 + n * 16;
        // Matrices 0 and 1 are the first 8 columns' products 0 to 7 and 8 to 15, 2 and 3 those of the next 8.
        if constexpr (L::kTransposed) {
          ldmatrix_x4(b[n], right + (column + lane / 16 * 8 + lane % 8) * S::kRightPitch + k + lane / 8 % 2 * 8);
        } else {
          ldmatrix_x4_trans(b[n], right + (k + lane % 16) * S::kRightPitch + column + lane / 16 * 8);
        }
      }
#pragma unroll
      for (int m = 0; m < S::kM; ++m)
#pragma unroll
        for (int n = 0; n < S::kN; ++n) {
          const uint32 pair[2] = {b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]};
          mma_m16n8k16<T>(sums[m][n], a[m], pair);
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
        a[i] = load_packed<4>(left + ((warp_m * S::kM + i / 2) * 16 + i % 2 * 8 + g) * S::kLeftPitch + k);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
#pragma unroll
        for (int n = 0; n < S::kN; ++n) {
          const int column = (warp_n * S::kN + n) * 8 + 2 * q;
          float b[2];
          if constexpr (L::kTransposed) {
            b[0] = right[column * S::kRightPitch + k + c];
            b[1] = right[(column + 1) * S::kRightPitch + k + c];
          } else {
            const auto both = load_packed<2>(right + (k + c) * S::kRightPitch + column);
            b[0] = both.data[0], b[1] = both.data[1];
          }
#pragma unroll
          for (int m = 0; m < S::kM; ++m)
#pragma unroll
            for (int i = 0; i < 4; ++i) sums[m][n][i] = fmaf(a[2 * m + i / 2].data[c], b[i % 2], sums[m][n][i]);
        }
      }
    }
  }
}

/// The whole kernel. BIASES has one element a column, of the operands' type, where kBias. Grid: tiles of rows, tiles of
/// columns, batches.
template <class L, class PostOps>
__device__ __forceinline__ void multiply_matrices(const typename L::Element* __restrict__ left,
                                                  const typename L::Element* __restrict__ right,
                                                  const typename L::Element* __restrict__ biases,
                                                  typename L::Element* __restrict__ output, const PostOps& post_ops) {
  using S = ProductTiling<L>;
  using T = typename L::Element;
  static_assert(S::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(128) unsigned char shared[];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int outer = blockIdx.z / L::kInnerBatches;
  const int inner = blockIdx.z % L::kInnerBatches;
  const int row = blockIdx.x * L::kTileM;
  const int column = blockIdx.y * L::kTileN;
  left += outer * L::kLeftOuter + inner * L::kLeftInner + row * L::kLeftRow;
  right += outer * L::kRightOuter + inner * L::kRightInner + (L::kTransposed ? column * L::kRightRow : column);
  float sums[S::kM][S::kN][4] = {};
  pdl_wait_and_trigger();

  const auto copy_step = [&](int step) {
    T* to = reinterpret_cast<T*>(shared + step % L::kStages * S::kStageBytes);
    const int k = step * L::kStep;
    copy_matrix<L::kTileM, L::kStep, S::kLeftPitch, S::kLeftVector, S::kThreads>(to, left + k, L::kLeftRow, L::kM - row,
                                                                                 L::kK - k);
    to += L::kTileM * S::kLeftPitch;
    if constexpr (L::kTransposed) {
      copy_matrix<L::kTileN, L::kStep, S::kRightPitch, S::kRightVector, S::kThreads>(to, right + k, L::kRightRow,
                                                                                     L::kN - column, L::kK - k);
    } else {
      copy_matrix<L::kStep, L::kTileN, S::kRightPitch, S::kRightVector, S::kThreads>(
          to, right + k * L::kRightRow, L::kRightRow, L::kK - k, L::kN - column);
    }
  };
#pragma unroll
  for (int step = 0; step < L::kStages - 1; ++step) {
    if (step < S::kSteps) copy_step(step);
    cp_async_commit();
  }
#pragma unroll 1
  for (int step = 0; step < S::kSteps; ++step) {
    cp_async_wait<L::kStages - 2>();
    __syncthreads();
    if (step + L::kStages - 1 < S::kSteps) copy_step(step + L::kStages - 1);
    cp_async_commit();
    const T* stage = reinterpret_cast<const T*>(shared + step % L::kStages * S::kStageBytes);
    multiply_product_step<L>(sums, stage, stage + L::kTileM * S::kLeftPitch, warp % L::kWarpsM, warp / L::kWarpsM);
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
          float x[2] = {sums[m][n][2 * half], sums[m][n][2 * half + 1]};
          if constexpr (L::kBias) x[0] += widen(biases[at_column]), x[1] += widen(biases[at_column + 1]);
          post_ops.apply(x, post_ops.template load<2>(offset));
          store_packed(output + offset, x);
        } else {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            if (at_column + i >= L::kN) break;
            float x[1] = {sums[m][n][2 * half + i]};
            if constexpr (L::kBias) x[0] += widen(biases[at_column + i]);
            post_ops.apply(x, post_ops.template load<1>(offset + i));
            output[offset + i] = Narrow<T>::from(x[0]);
          }
        }
      }
    }
}
