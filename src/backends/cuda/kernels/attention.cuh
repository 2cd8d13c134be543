#pragma once

#include "attention_tiling.hpp"
#include "tile.cuh"

// Fused scaled dot-product attention. A block has kRows queries of one batch (a head of an image) and streams K and V
// through a cp.async pipeline in shared memory with an online softmax: Milakov and Gimelshein, "Online normalizer
// calculation for softmax" (2018); Dao et al., "FlashAttention" (2022). Scores stay in registers: each warp keeps the
// running maximum and sum of every row and rescales its accumulators when the maximum grows. Within a k-step each of
// kSplits warps has kStep keys of its own; the splits are reduced in shared memory at the end.
//
// Half precision uses tensor cores: the accumulator fragments of QK^T are the A fragments of PV without a shuffle. So
// does float32 that may be rounded to tf32 (kTf32), with the keys of a fragment permuted. Other float32 uses FFMA, and
// P goes through shared memory.
//
// The host writes the struct Layer of constants. For each tensor it contains a struct whose batch(), token() and
// channel() give element offsets, and kVector, the number of contiguous and aligned channels.

/// A layer's shape and tile under the names of AttentionTiling.
template <class L>
struct AttentionLayerShape {
  static constexpr int element_bytes() { return sizeof(typename L::Element); }
  static constexpr bool tf32 = L::kTf32;
  static constexpr int keys() { return L::kKeys; }
  static constexpr int channels() { return L::kChannels; }
  static constexpr int value_channels() { return L::kValueChannels; }
};
template <class L>
struct AttentionLayerTile {
  static constexpr int tiles = L::kTiles, groups = L::kGroups, splits = L::kSplits, step = L::kStep;
  static constexpr int stages = L::kStages;
};

template <class L>
struct AttentionTraits {
  using T = typename L::Element;
  static constexpr AttentionTiling kTiling{AttentionLayerShape<L>{}, AttentionLayerTile<L>{}};
  static constexpr bool kTensor = kTiling.tensor;
  static constexpr int kFragment = 32 / static_cast<int>(sizeof(T));  // channels per fragment
  static constexpr int kThreads = 32 * L::kGroups * L::kSplits;
  static constexpr int kWarpRows = 16 * L::kTiles;  // queries per warp
  static constexpr int kRows = kTiling.rows;
  static constexpr int kStepKeys = kTiling.step_keys;
  static constexpr int kSteps = kTiling.steps;
  static constexpr int kQkDim = kTiling.qk_dim;
  static constexpr int kVDim = kTiling.v_dim;
  static constexpr int kPitch = kTiling.pitch;
  static constexpr int kValuePitch = kTiling.value_pitch;
  static constexpr int kQueryBytes = kTiling.query_bytes;
  static constexpr int kStageBytes = kTiling.stage_bytes;
  static constexpr int kPPitch = kTiling.p_pitch;
  static constexpr int kAccPitch = kTiling.acc_pitch;
  static constexpr bool kQueriesInRegisters = sizeof(T) == 2 && kQkDim <= 64;
  // Without a mask, scores are kept in the log2 domain: one FMA applies the scale and log2(e). With a mask they are
  // not: masks use the lowest finite float, whose product with log2(e) overflows.
  static constexpr float kLog2OfE = 1.4426950408889634F;
  static constexpr bool kLog2Domain = !L::kMasked && L::kScale > 0;
  static constexpr float kScoreScale = kLog2Domain ? L::kScale * kLog2OfE : 1.0F;
  static constexpr float kExponentScale = kLog2Domain ? 1.0F : kLog2OfE;
};

/// Copies ROWS tokens from FIRST on, LENGTH channels each, padded to PADDED; zero-fills beyond TOKENS.
template <class From, int kRows, int kLength, int kPadded, int kPitch, int kThreads, typename T>
__device__ __forceinline__ void load_tokens(T* shared, const T* __restrict__ from, int first, int tokens) {
  constexpr int kVector = From::kVector;
  constexpr int kAcross = kPadded / kVector;
  constexpr int kUnroll = kVector * sizeof(T) == 16 ? 8 : 2;  // more would keep addresses in registers
#pragma unroll kUnroll
  for (int i = 0; i < ceil_div(kRows * kAcross, kThreads); ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (kRows * kAcross % kThreads != 0 && at >= kRows * kAcross) break;
    // Consecutive threads read contiguous memory, whether along tokens or along channels.
    const int row = From::kTokensContiguous ? at % kRows : at / kAcross;
    const int place = (From::kTokensContiguous ? at / kRows : at % kAcross) * kVector;
    const bool valid = first + row < tokens && place < kLength;
    const T* source = valid ? from + From::token(first + row) + From::channel(place) : from;
    copy_elements<kVector>(shared + row * kPitch + place, source, valid);
  }
}

/// exp2 for the softmax: approximate where P is rounded to half precision anyway.
template <typename T>
__device__ __forceinline__ float softmax_exp2(float x) {
  return exp2_approx(x);
}
template <>
__device__ __forceinline__ float softmax_exp2<float>(float x) {
  return exp2f(x);
}

/// Additive mask of a lane's query, token TOKEN of its batch, and of those 8, 16, ... tokens further on.
template <class L>
struct AttentionMask {
  const typename L::MaskElement* __restrict__ mask;
  int token;

  __device__ __forceinline__ float operator()(int row, int key) const {
    if constexpr (!L::kMasked) return 0.0F;
    if (token + row >= L::kQueries || key >= L::kKeys) return 0.0F;
    return static_cast<float>(
        widen(mask[L::Mask::batch(blockIdx.y) + L::Mask::token(token + row) + L::Mask::channel(key)]));
  }
};

/// A warp's state: output accumulators (fragments of 16 rows by 8 columns) and, for the two rows of each tile that a
/// lane shares, the running row maximum and its partial row sum.
template <class L>
struct AttentionState {
  using S = AttentionTraits<L>;
  float acc[L::kTiles][S::kVDim / 8][4];
  float row_max[L::kTiles][2];
  float row_sum[L::kTiles][2];
};

/// ldmatrix, with float32 rounded to tf32.
template <typename T>
__device__ __forceinline__ void load_fragments(uint32 (&fragments)[4], const T* shared_row) {
  ldmatrix_x4(fragments, shared_row);
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) fragments[i] = to_tf32(__uint_as_float(fragments[i]));
  }
}
/// Fragment MMA in half precision or tf32.
template <typename T>
__device__ __forceinline__ void mma_fragments(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  if constexpr (sizeof(T) == 4) {
    mma_m16n8k8_tf32(d, a, b);
  } else {
    mma_m16n8k16<T>(d, a, b);
  }
}

/// S = Q K^T for one k-step of a warp.
template <class L>
__device__ __forceinline__ void qk_gemm(float (&scores)[L::kTiles][L::kStep / 8][4], const typename L::Element* queries,
                                        const uint32 (&query_fragments)[L::kTiles][AttentionTraits<L>::kQkDim / 16][4],
                                        const typename L::Element* keys) {
  using S = AttentionTraits<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (S::kTensor) {
#pragma unroll
    for (int k = 0; k < S::kQkDim / S::kFragment; ++k) {
      uint32 query[L::kTiles][4];
#pragma unroll
      for (int t = 0; t < L::kTiles; ++t) {
        if constexpr (S::kQueriesInRegisters) {
#pragma unroll
          for (int i = 0; i < 4; ++i) query[t][i] = query_fragments[t][k][i];
        } else {
          load_fragments(
              query[t], queries + (t * 16 + lane % 16) * S::kPitch + k * S::kFragment + lane / 16 * (S::kFragment / 2));
        }
      }
#pragma unroll
      for (int n = 0; n < L::kStep / 16; ++n) {
        uint32 key[4];
        load_fragments(key, keys + (n * 16 + lane / 16 * 8 + lane % 8) * S::kPitch + k * S::kFragment +
                                lane / 8 % 2 * (S::kFragment / 2));
        const uint32 low[2] = {key[0], key[1]};
        const uint32 high[2] = {key[2], key[3]};
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t) {
          mma_fragments<T>(scores[t][2 * n], query[t], low);
          mma_fragments<T>(scores[t][2 * n + 1], query[t], high);
        }
      }
    }
  } else {
    const int g = lane / 4;
    const int q = lane % 4;
#pragma unroll 1
    for (int k = 0; k < S::kQkDim; k += 4) {
      Packed<float, 4> query[2 * L::kTiles];
#pragma unroll
      for (int i = 0; i < 2 * L::kTiles; ++i) query[i] = load_packed<4>(queries + (i * 8 + g) * S::kPitch + k);
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const auto key = load_packed<4>(keys + (n * 8 + 2 * q + i) * S::kPitch + k);
#pragma unroll
          for (int c = 0; c < 4; ++c)
#pragma unroll
            for (int t = 0; t < 2 * L::kTiles; ++t)
              scores[t / 2][n][t % 2 * 2 + i] = fmaf(query[t].data[c], key.data[c], scores[t / 2][n][t % 2 * 2 + i]);
        }
      }
    }
  }
}

/// Online softmax: turns SCORES, of the keys from FIRST on, into P and rescales the accumulators.
template <class L>
__device__ __forceinline__ void online_softmax(AttentionState<L>& state, float (&scores)[L::kTiles][L::kStep / 8][4],
                                               int first, const AttentionMask<L>& mask) {
  using S = AttentionTraits<L>;
  using T = typename L::Element;
  const int column = threadIdx.x % 4 * 2;
  if constexpr (!S::kLog2Domain) {
#pragma unroll
    for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          scores[t][n][i] = scores[t][n][i] * L::kScale + mask(t * 16 + i / 2 * 8, first + n * 8 + column + i % 2);
  }
  if (L::kKeys % S::kStepKeys != 0 && first + L::kStep > L::kKeys) {
#pragma unroll
    for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (first + n * 8 + column + i % 2 >= L::kKeys) scores[t][n][i] = -INFINITY;
  }
#pragma unroll
  for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float row_max = scores[t][0][2 * half];
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) row_max = fmaxf(row_max, scores[t][n][2 * half + i]);
      row_max = fmaxf(row_max, __shfl_xor_sync(0xFFFFFFFFu, row_max, 1));
      row_max = fmaxf(row_max, __shfl_xor_sync(0xFFFFFFFFu, row_max, 2));
      row_max = fmaxf(row_max * S::kScoreScale, state.row_max[t][half]);
      // If all keys so far are masked, the maximum is -infinity; 0 avoids infinity - infinity.
      const float base = row_max == -INFINITY ? 0.0F : row_max;
      const float rescale = softmax_exp2<T>((state.row_max[t][half] - base) * S::kExponentScale);
      state.row_max[t][half] = row_max;
      float sum = state.row_sum[t][half] * rescale;
#pragma unroll
      for (int e = 0; e < S::kVDim / 8; ++e)
#pragma unroll
        for (int i = 0; i < 2; ++i) state.acc[t][e][2 * half + i] *= rescale;
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& x = scores[t][n][2 * half + i];
          x = softmax_exp2<T>(S::kLog2Domain ? fmaf(x, S::kScoreScale, -base) : (x - base) * S::kExponentScale);
          sum += x;
        }
      state.row_sum[t][half] = sum;
    }
}

/// O += P V. P_SMEM is the warp's staging buffer for float32.
template <class L>
__device__ __forceinline__ void pv_gemm(AttentionState<L>& state, const float (&weights)[L::kTiles][L::kStep / 8][4],
                                        const typename L::Element* values, float* p_smem) {
  using S = AttentionTraits<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (L::kTf32) {
    // Keys q and q + 4 of an mma fragment are mapped to keys 2 q and 2 q + 1, whose P the lane already holds.
    const int g = lane / 4;
    const int q = lane % 4;
#pragma unroll
    for (int k = 0; k < L::kStep / 8; ++k) {
      uint32 left[L::kTiles][4];
#pragma unroll
      for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) left[t][i] = to_tf32(weights[t][k][i % 2 * 2 + i / 2]);
#pragma unroll
      for (int e = 0; e < S::kVDim / 8; ++e) {
        const float* value = values + (k * 8 + 2 * q) * S::kValuePitch + e * 8 + g;
        const uint32 right[2] = {to_tf32(value[0]), to_tf32(value[S::kValuePitch])};
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t) mma_m16n8k8_tf32(state.acc[t][e], left[t], right);
      }
    }
  } else if constexpr (S::kTensor) {
#pragma unroll
    for (int k = 0; k < L::kStep / 16; ++k) {
      uint32 left[L::kTiles][4];
#pragma unroll
      for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float(&pair)[4] = weights[t][2 * k + i / 2];
          left[t][i] = pack2<T>(pair[i % 2 * 2], pair[i % 2 * 2 + 1]);
        }
#pragma unroll
      for (int e = 0; e < S::kVDim / 16; ++e) {
        uint32 value[4];
        ldmatrix_x4_trans(value, values + (k * 16 + lane % 16) * S::kValuePitch + e * 16 + lane / 16 * 8);
        const uint32 low[2] = {value[0], value[1]};
        const uint32 high[2] = {value[2], value[3]};
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t) {
          mma_m16n8k16<T>(state.acc[t][2 * e], left[t], low);
          mma_m16n8k16<T>(state.acc[t][2 * e + 1], left[t], high);
        }
      }
    }
  } else {
    const int g = lane / 4;
    const int q = lane % 4;
    __syncwarp();
#pragma unroll
    for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          p_smem[(t * 16 + i / 2 * 8 + g) * S::kPPitch + n * 8 + 2 * q + i % 2] = weights[t][n][i];
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < L::kStep; k += 4) {
      Packed<float, 4> left[2 * L::kTiles];
#pragma unroll
      for (int i = 0; i < 2 * L::kTiles; ++i) left[i] = load_packed<4>(p_smem + (i * 8 + g) * S::kPPitch + k);
#pragma unroll
      for (int c = 0; c < 4; ++c)
#pragma unroll
        for (int e = 0; e < S::kVDim / 8; ++e) {
          const auto value = load_packed<2>(values + (k + c) * S::kValuePitch + e * 8 + 2 * q);
#pragma unroll
          for (int t = 0; t < 2 * L::kTiles; ++t)
#pragma unroll
            for (int i = 0; i < 2; ++i)
              state.acc[t / 2][e][t % 2 * 2 + i] =
                  fmaf(left[t].data[c], value.data[i], state.acc[t / 2][e][t % 2 * 2 + i]);
        }
    }
  }
}

/// Shared memory of the split reduction: accumulators, row maximum and row sum by split and row.
template <class L>
struct SplitReduction {
  using S = AttentionTraits<L>;
  float* acc;
  float* row_max;
  float* row_sum;

  __device__ __forceinline__ explicit SplitReduction(unsigned char* shared)
      : acc(reinterpret_cast<float*>(shared)),
        row_max(acc + L::kSplits * S::kRows * S::kAccPitch),
        row_sum(row_max + L::kSplits * S::kRows) {}
};

/// Writes a warp's partial result to shared memory.
template <class L>
__device__ __forceinline__ void store_partials(const AttentionState<L>& state, const SplitReduction<L>& reduction) {
  using S = AttentionTraits<L>;
  const auto& [acc, row_max, row_sum] = reduction;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp / L::kGroups * S::kRows + warp % L::kGroups * S::kWarpRows + t * 16 + half * 8 + lane / 4;
      float sum = state.row_sum[t][half];
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
      sum += __shfl_xor_sync(0xFFFFFFFFu, sum, 2);
      if (lane % 4 == 0) row_max[row] = state.row_max[t][half], row_sum[row] = sum;
#pragma unroll
      for (int e = 0; e < S::kVDim / 8; ++e)
        *reinterpret_cast<Packed<float, 2>*>(acc + row * S::kAccPitch + e * 8 + lane % 4 * 2) = {
            state.acc[t][e][2 * half], state.acc[t][e][2 * half + 1]};
    }
}

/// Merges the splits and stores the output of the block's queries, from FIRST on.
template <class L, int kThreads>
__device__ __forceinline__ void reduce_splits(const SplitReduction<L>& reduction,
                                              typename L::Element* __restrict__ output, int first) {
  using S = AttentionTraits<L>;
  using T = typename L::Element;
  using To = typename L::Out;
  const auto& [acc, row_max, row_sum] = reduction;
  constexpr int kAcross = S::kVDim / 8;
  constexpr bool kWhole = To::kVector * sizeof(T) == 16 && L::kValueChannels % 8 == 0;
  for (int at = threadIdx.x; at < S::kRows * kAcross; at += kThreads) {
    const int row = To::kTokensContiguous ? at % S::kRows : at / kAcross;
    const int column = (To::kTokensContiguous ? at / S::kRows : at % kAcross) * 8;
    if (first + row >= L::kQueries || column >= L::kValueChannels) continue;
    float max = -INFINITY;
#pragma unroll
    for (int split = 0; split < L::kSplits; ++split) max = fmaxf(max, row_max[split * S::kRows + row]);
    if (max == -INFINITY) max = 0.0F;
    float x[8] = {};
    float total = 0;
#pragma unroll
    for (int split = 0; split < L::kSplits; ++split) {
      const int from = split * S::kRows + row;
      const float rescale = softmax_exp2<T>((row_max[from] - max) * S::kExponentScale);
      total += row_sum[from] * rescale;
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        const auto part = load_packed<4>(acc + from * S::kAccPitch + column + i);
#pragma unroll
        for (int c = 0; c < 4; ++c) x[i + c] = fmaf(part.data[c], rescale, x[i + c]);
      }
    }
    const float share = 1 / total;
#pragma unroll
    for (int i = 0; i < 8; ++i) x[i] *= share;
    T* to = output + To::token(first + row);
    if constexpr (kWhole) {
      store_packed(to + column, x);
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (column + i < L::kValueChannels) to[To::channel(column + i)] = Narrow<T>::from(x[i]);
    }
  }
}

/// The kernel. MASK is read if kMasked. Grid: blocks of kRows queries, batches.
template <class L>
__device__ __forceinline__ void flash_attention(const typename L::Element* __restrict__ query,
                                                const typename L::Element* __restrict__ key,
                                                const typename L::Element* __restrict__ value,
                                                const typename L::MaskElement* __restrict__ mask,
                                                typename L::Element* __restrict__ output) {
  using S = AttentionTraits<L>;
  using T = typename L::Element;
  extern __shared__ __align__(128) unsigned char shared[];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int group = warp % L::kGroups;
  const int split = warp / L::kGroups;
  const int first = blockIdx.x * S::kRows;
  query += L::Query::batch(blockIdx.y);
  key += L::Key::batch(blockIdx.y);
  value += L::Value::batch(blockIdx.y);
  output += L::Out::batch(blockIdx.y);
  T* queries = reinterpret_cast<T*>(shared);
  unsigned char* pipeline = shared + S::kQueryBytes;
  float* p_smem = reinterpret_cast<float*>(pipeline + L::kStages * S::kStageBytes) +
                  (S::kTensor ? 0 : warp * S::kWarpRows * S::kPPitch);
  AttentionState<L> state = {};
#pragma unroll
  for (int t = 0; t < L::kTiles; ++t) state.row_max[t][0] = state.row_max[t][1] = -INFINITY;
  const AttentionMask<L> attention_mask{mask, first + group * S::kWarpRows + lane / 4};
  pdl_wait_and_trigger();

  const auto load_stage = [&](int step) {
    T* keys = reinterpret_cast<T*>(pipeline + step % L::kStages * S::kStageBytes);
    T* values = keys + S::kStepKeys * S::kPitch;
    const int at = step * S::kStepKeys;
    load_tokens<typename L::Key, S::kStepKeys, L::kChannels, S::kQkDim, S::kPitch, S::kThreads>(keys, key, at,
                                                                                                L::kKeys);
    load_tokens<typename L::Value, S::kStepKeys, L::kValueChannels, S::kVDim, S::kValuePitch, S::kThreads>(
        values, value, at, L::kKeys);
  };
  load_tokens<typename L::Query, S::kRows, L::kChannels, S::kQkDim, S::kPitch, S::kThreads>(queries, query, first,
                                                                                            L::kQueries);
#pragma unroll
  for (int step = 0; step < L::kStages - 1; ++step) {
    if (step < S::kSteps) load_stage(step);
    cp_async_commit();
  }
  const T* own = queries + group * S::kWarpRows * S::kPitch;
  uint32 query_fragments[L::kTiles][S::kQkDim / 16][4];
#pragma unroll 1
  for (int step = 0; step < S::kSteps; ++step) {
    cp_async_wait<L::kStages - 2>();
    __syncthreads();
    if (step + L::kStages - 1 < S::kSteps) load_stage(step + L::kStages - 1);
    cp_async_commit();
    if constexpr (S::kQueriesInRegisters)
      if (step == 0)
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
          for (int k = 0; k < S::kQkDim / 16; ++k)
            ldmatrix_x4(query_fragments[t][k], own + (t * 16 + lane % 16) * S::kPitch + k * 16 + lane / 16 * 8);
    const int at = step * S::kStepKeys + split * L::kStep;
    if (at >= L::kKeys) continue;
    const T* keys = reinterpret_cast<const T*>(pipeline + step % L::kStages * S::kStageBytes);
    const T* values = keys + S::kStepKeys * S::kPitch + split * L::kStep * S::kValuePitch;
    float scores[L::kTiles][L::kStep / 8][4] = {};
    qk_gemm<L>(scores, own, query_fragments, keys + split * L::kStep * S::kPitch);
    online_softmax<L>(state, scores, at, attention_mask);
    pv_gemm<L>(state, scores, values, p_smem);
  }
  const SplitReduction<L> reduction(shared);
  __syncthreads();  // all warps have finished reading the pipeline
  store_partials(state, reduction);
  __syncthreads();
  reduce_splits<L, S::kThreads>(reduction, output, first);
}
