#pragma once

#include "tile.cuh"

// Attention in one kernel: a block has kRows queries of one batch (a head of an image) and meets all keys, step by
// step, from a ring in shared memory; of a step each of kSplits warps takes kStep keys. Scores never leave registers: a
// warp's weights are relative to the greatest score that it has met, and what it has summed up is rescaled when that
// grows. In the end the splits' sums meet in shared memory. Tensor cores for halves, whose score fragments are the left
// fragments of the second product as they lie, and for float32 that may round to tf32 (kTf32), whose are where its keys
// are taken in another order; FFMA for float32, whose weights take a detour by shared memory.
//
// The host writes the struct Layer of constants, and in it for each tensor a struct of its own: batch(), token() and
// channel() say how many elements along each of them is, and of kVector channels lie side by side, aligned to them.

template <class L>
struct AttentionTiling {
  using T = typename L::Element;
  static constexpr bool kTensor = sizeof(T) == 2 || L::kTf32;
  static constexpr int kFragment = 32 / static_cast<int>(sizeof(T));  // channels of a fragment
  static constexpr int kWarps = L::kGroups * L::kSplits;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kGroupRows = 16 * L::kTiles;  // queries of a warp
  static constexpr int kRows = L::kGroups * kGroupRows;
  static constexpr int kStepKeys = L::kSplits * L::kStep;
  static constexpr int kSteps = ceil_div(L::kKeys, kStepKeys);
  // Rows in shared memory are 16 bytes longer than their data, so that 8 of them lie in different banks.
  static constexpr int kDepth = round_up(L::kChannels, 16);
  static constexpr int kWidth = round_up(L::kValueChannels, 16);
  static constexpr int kPitch = kDepth + 16 / static_cast<int>(sizeof(T));
  static constexpr int kValuePitch = kWidth + 16 / static_cast<int>(sizeof(T));
  static constexpr int kQueryBytes = kRows * kPitch * static_cast<int>(sizeof(T));
  static constexpr int kStageBytes = kStepKeys * (kPitch + kValuePitch) * static_cast<int>(sizeof(T));
  // Float32 weights between the two products.
  static constexpr int kWeightPitch = L::kStep + 4;
  static constexpr int kWeightBytes = kTensor ? 0 : kWarps * kGroupRows * kWeightPitch * 4;
  // Sums of all splits, and for each row its greatest score and the sum of its weights: in the ring's place.
  static constexpr int kSumPitch = kWidth + 8;
  static constexpr int kSumBytes = L::kSplits * kRows * (kSumPitch + 2) * 4;
  static constexpr int kSharedBytes = max_of(kQueryBytes + L::kStages * kStageBytes + kWeightBytes, kSumBytes);
  static constexpr bool kKeepsQueries = sizeof(T) == 2 && kDepth <= 64;
  // Without a mask the greatest scores are kept as powers of two, and one multiply-add brings a score there. With one
  // they stay as they are: of the lowest numbers, which masks hide by, no multiple is finite.
  static constexpr float kLog2OfE = 1.4426950408889634F;
  static constexpr bool kInPowers = !L::kMasked && L::kScale > 0;
  static constexpr float kFactor = kInPowers ? L::kScale * kLog2OfE : 1.0F;
  static constexpr float kUnit = kInPowers ? 1.0F : kLog2OfE;
};

/// Copies ROWS tokens from FIRST on, of which there are TOKENS, each LENGTH channels padded to PADDED; zeros beyond.
template <class From, int kRows, int kLength, int kPadded, int kPitch, int kThreads, typename T>
__device__ __forceinline__ void copy_tokens(T* shared, const T* __restrict__ from, int first, int tokens) {
  constexpr int kVector = From::kVector;
  constexpr int kAcross = kPadded / kVector;
  constexpr int kUnroll = kVector * sizeof(T) == 16 ? 8 : 2;  // more take registers for addresses
#pragma unroll kUnroll
  for (int i = 0; i < ceil_div(kRows * kAcross, kThreads); ++i) {
    const int at = threadIdx.x + i * kThreads;
    if (kRows * kAcross % kThreads != 0 && at >= kRows * kAcross) break;
    // Neighbouring threads read neighbouring elements, whichever these are.
    const int row = From::kTokensAreNear ? at % kRows : at / kAcross;
    const int place = (From::kTokensAreNear ? at / kRows : at % kAcross) * kVector;
    const bool valid = first + row < tokens && place < kLength;
    const T* source = valid ? from + From::token(first + row) + From::channel(place) : from;
    copy_elements<kVector>(shared + row * kPitch + place, source, valid);
  }
}

/// A power of two; as exact as sums of halves need it, where T is one.
template <typename T>
__device__ __forceinline__ float power_of_two(float x) {
  return exp2_approx(x);
}
template <>
__device__ __forceinline__ float power_of_two<float>(float x) {
  return exp2f(x);
}

/// What a mask adds to the scores of one lane's query, which is number TOKEN of its batch, and of 8 and so on behind
/// it.
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

/// What a warp knows of its queries: sums of values, fragments of 16 rows by 8 columns, and for the two rows of each
/// tile that a lane has a part of, the greatest score so far and its part of the sum of their weights.
template <class L>
struct AttentionState {
  using S = AttentionTiling<L>;
  float sums[L::kTiles][S::kWidth / 8][4];
  float greatest[L::kTiles][2];
  float weights[L::kTiles][2];
};

/// Four registers of fragments out of shared memory, of float32 rounded to tf32.
template <typename T>
__device__ __forceinline__ void load_fragments(uint32 (&fragments)[4], const T* shared_row) {
  ldmatrix_x4(fragments, shared_row);
  if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) fragments[i] = to_tf32(__uint_as_float(fragments[i]));
  }
}
/// D += A B on fragments of halves or of tf32.
template <typename T>
__device__ __forceinline__ void multiply_fragments(float (&d)[4], const uint32 (&a)[4], const uint32 (&b)[2]) {
  if constexpr (sizeof(T) == 4) {
    mma_m16n8k8_tf32(d, a, b);
  } else {
    mma_m16n8k16<T>(d, a, b);
  }
}

/// SCORES of one step: the products of a warp's queries and keys.
template <class L>
__device__ __forceinline__ void score(float (&scores)[L::kTiles][L::kStep / 8][4], const typename L::Element* queries,
                                      const uint32 (&kept)[L::kTiles][AttentionTiling<L>::kDepth / 16][4],
                                      const typename L::Element* keys) {
  using S = AttentionTiling<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (S::kTensor) {
#pragma unroll
    for (int k = 0; k < S::kDepth / S::kFragment; ++k) {
      uint32 query[L::kTiles][4];
#pragma unroll
      for (int t = 0; t < L::kTiles; ++t) {
        if constexpr (S::kKeepsQueries) {
#pragma unroll
          for (int i = 0; i < 4; ++i) query[t][i] = kept[t][k][i];
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
          multiply_fragments<T>(scores[t][2 * n], query[t], low);
          multiply_fragments<T>(scores[t][2 * n + 1], query[t], high);
        }
      }
    }
  } else {
    const int g = lane / 4;
    const int q = lane % 4;
#pragma unroll 1
    for (int k = 0; k < S::kDepth; k += 4) {
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

/// Makes weights of SCORES, of the keys from FIRST on, and rescales what was summed up.
template <class L>
__device__ __forceinline__ void weigh(AttentionState<L>& state, float (&scores)[L::kTiles][L::kStep / 8][4], int first,
                                      const AttentionMask<L>& mask) {
  using S = AttentionTiling<L>;
  using T = typename L::Element;
  const int column = threadIdx.x % 4 * 2;
  if constexpr (!S::kInPowers) {
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
      float greatest = scores[t][0][2 * half];
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) greatest = fmaxf(greatest, scores[t][n][2 * half + i]);
      greatest = fmaxf(greatest, __shfl_xor_sync(0xFFFFFFFFu, greatest, 1));
      greatest = fmaxf(greatest, __shfl_xor_sync(0xFFFFFFFFu, greatest, 2));
      greatest = fmaxf(greatest * S::kFactor, state.greatest[t][half]);
      // Where all keys so far are hidden, nothing may be taken from infinity.
      const float base = greatest == -INFINITY ? 0.0F : greatest;
      const float rescale = power_of_two<T>((state.greatest[t][half] - base) * S::kUnit);
      state.greatest[t][half] = greatest;
      float sum = state.weights[t][half] * rescale;
#pragma unroll
      for (int e = 0; e < S::kWidth / 8; ++e)
#pragma unroll
        for (int i = 0; i < 2; ++i) state.sums[t][e][2 * half + i] *= rescale;
#pragma unroll
      for (int n = 0; n < L::kStep / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& x = scores[t][n][2 * half + i];
          x = power_of_two<T>(S::kInPowers ? fmaf(x, S::kFactor, -base) : (x - base) * S::kUnit);
          sum += x;
        }
      state.weights[t][half] = sum;
    }
}

/// Adds VALUES times their WEIGHTS; PARKED is the warp's own shared memory for float32 weights.
template <class L>
__device__ __forceinline__ void gather_values(AttentionState<L>& state,
                                              const float (&weights)[L::kTiles][L::kStep / 8][4],
                                              const typename L::Element* values, float* parked) {
  using S = AttentionTiling<L>;
  using T = typename L::Element;
  const int lane = threadIdx.x % 32;
  if constexpr (L::kTf32) {
    // A fragment's keys q and q + 4 are those whose weights a lane has: 2 q and 2 q + 1.
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
      for (int e = 0; e < S::kWidth / 8; ++e) {
        const float* value = values + (k * 8 + 2 * q) * S::kValuePitch + e * 8 + g;
        const uint32 right[2] = {to_tf32(value[0]), to_tf32(value[S::kValuePitch])};
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t) mma_m16n8k8_tf32(state.sums[t][e], left[t], right);
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
      for (int e = 0; e < S::kWidth / 16; ++e) {
        uint32 value[4];
        ldmatrix_x4_trans(value, values + (k * 16 + lane % 16) * S::kValuePitch + e * 16 + lane / 16 * 8);
        const uint32 low[2] = {value[0], value[1]};
        const uint32 high[2] = {value[2], value[3]};
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t) {
          mma_m16n8k16<T>(state.sums[t][2 * e], left[t], low);
          mma_m16n8k16<T>(state.sums[t][2 * e + 1], left[t], high);
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
          parked[(t * 16 + i / 2 * 8 + g) * S::kWeightPitch + n * 8 + 2 * q + i % 2] = weights[t][n][i];
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < L::kStep; k += 4) {
      Packed<float, 4> left[2 * L::kTiles];
#pragma unroll
      for (int i = 0; i < 2 * L::kTiles; ++i) left[i] = load_packed<4>(parked + (i * 8 + g) * S::kWeightPitch + k);
#pragma unroll
      for (int c = 0; c < 4; ++c)
#pragma unroll
        for (int e = 0; e < S::kWidth / 8; ++e) {
          const auto value = load_packed<2>(values + (k + c) * S::kValuePitch + e * 8 + 2 * q);
#pragma unroll
          for (int t = 0; t < 2 * L::kTiles; ++t)
#pragma unroll
            for (int i = 0; i < 2; ++i)
              state.sums[t / 2][e][t % 2 * 2 + i] =
                  fmaf(left[t].data[c], value.data[i], state.sums[t / 2][e][t % 2 * 2 + i]);
        }
    }
  }
}

/// Where the splits' sums meet: for each split and row its sums, its greatest score and the sum of its weights.
template <class L>
struct AttentionMeeting {
  using S = AttentionTiling<L>;
  float* sums;
  float* greatest;
  float* weights;

  __device__ __forceinline__ explicit AttentionMeeting(unsigned char* shared)
      : sums(reinterpret_cast<float*>(shared)),
        greatest(sums + L::kSplits * S::kRows * S::kSumPitch),
        weights(greatest + L::kSplits * S::kRows) {}
};

/// Puts what a warp has summed up where the splits meet.
template <class L>
__device__ __forceinline__ void part(const AttentionState<L>& state, const AttentionMeeting<L>& meeting) {
  using S = AttentionTiling<L>;
  const auto& [sums, greatest, weights] = meeting;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
#pragma unroll
  for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = warp / L::kGroups * S::kRows + warp % L::kGroups * S::kGroupRows + t * 16 + half * 8 + lane / 4;
      float weight = state.weights[t][half];
      weight += __shfl_xor_sync(0xFFFFFFFFu, weight, 1);
      weight += __shfl_xor_sync(0xFFFFFFFFu, weight, 2);
      if (lane % 4 == 0) greatest[row] = state.greatest[t][half], weights[row] = weight;
#pragma unroll
      for (int e = 0; e < S::kWidth / 8; ++e)
        *reinterpret_cast<Packed<float, 2>*>(sums + row * S::kSumPitch + e * 8 + lane % 4 * 2) = {
            state.sums[t][e][2 * half], state.sums[t][e][2 * half + 1]};
    }
}

/// Puts the splits' sums together and stores the answers of the block's queries, which are those from FIRST on.
template <class L, int kThreads>
__device__ __forceinline__ void answer(const AttentionMeeting<L>& meeting, typename L::Element* __restrict__ output,
                                       int first) {
  using S = AttentionTiling<L>;
  using T = typename L::Element;
  using To = typename L::Answer;
  const auto& [sums, greatest, weights] = meeting;
  constexpr int kAcross = S::kWidth / 8;
  constexpr bool kWhole = To::kVector * sizeof(T) == 16 && L::kValueChannels % 8 == 0;
  for (int at = threadIdx.x; at < S::kRows * kAcross; at += kThreads) {
    const int row = To::kTokensAreNear ? at % S::kRows : at / kAcross;
    const int column = (To::kTokensAreNear ? at / S::kRows : at % kAcross) * 8;
    if (first + row >= L::kQueries || column >= L::kValueChannels) continue;
    float most = -INFINITY;
#pragma unroll
    for (int split = 0; split < L::kSplits; ++split) most = fmaxf(most, greatest[split * S::kRows + row]);
    if (most == -INFINITY) most = 0.0F;
    float x[8] = {};
    float total = 0;
#pragma unroll
    for (int split = 0; split < L::kSplits; ++split) {
      const int from = split * S::kRows + row;
      const float rescale = power_of_two<T>((greatest[from] - most) * S::kUnit);
      total += weights[from] * rescale;
#pragma unroll
      for (int i = 0; i < 8; i += 4) {
        const auto part = load_packed<4>(sums + from * S::kSumPitch + column + i);
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

/// The whole kernel. MASK is read where kMasked. Grid: blocks of kRows queries, batches.
template <class L>
__device__ __forceinline__ void attend(const typename L::Element* __restrict__ query,
                                       const typename L::Element* __restrict__ key,
                                       const typename L::Element* __restrict__ value,
                                       const typename L::MaskElement* __restrict__ mask,
                                       typename L::Element* __restrict__ output) {
  using S = AttentionTiling<L>;
  using T = typename L::Element;
  static_assert(S::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(128) unsigned char shared[];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int group = warp % L::kGroups;
  const int split = warp / L::kGroups;
  const int first = blockIdx.x * S::kRows;
  query += L::Query::batch(blockIdx.y);
  key += L::Key::batch(blockIdx.y);
  value += L::Value::batch(blockIdx.y);
  output += L::Answer::batch(blockIdx.y);
  T* queries = reinterpret_cast<T*>(shared);
  unsigned char* ring = shared + S::kQueryBytes;
  float* parked = reinterpret_cast<float*>(ring + L::kStages * S::kStageBytes) +
                  (S::kTensor ? 0 : warp * S::kGroupRows * S::kWeightPitch);
  AttentionState<L> state = {};
#pragma unroll
  for (int t = 0; t < L::kTiles; ++t) state.greatest[t][0] = state.greatest[t][1] = -INFINITY;
  const AttentionMask<L> hidden{mask, first + group * S::kGroupRows + lane / 4};
  pdl_wait_and_trigger();

  const auto copy_step = [&](int step) {
    T* keys = reinterpret_cast<T*>(ring + step % L::kStages * S::kStageBytes);
    T* values = keys + S::kStepKeys * S::kPitch;
    const int at = step * S::kStepKeys;
    copy_tokens<typename L::Key, S::kStepKeys, L::kChannels, S::kDepth, S::kPitch, S::kThreads>(keys, key, at,
                                                                                                L::kKeys);
    copy_tokens<typename L::Value, S::kStepKeys, L::kValueChannels, S::kWidth, S::kValuePitch, S::kThreads>(
        values, value, at, L::kKeys);
  };
  copy_tokens<typename L::Query, S::kRows, L::kChannels, S::kDepth, S::kPitch, S::kThreads>(queries, query, first,
                                                                                            L::kQueries);
#pragma unroll
  for (int step = 0; step < L::kStages - 1; ++step) {
    if (step < S::kSteps) copy_step(step);
    cp_async_commit();
  }
  const T* own = queries + group * S::kGroupRows * S::kPitch;
  uint32 kept[L::kTiles][S::kDepth / 16][4];
#pragma unroll 1
  for (int step = 0; step < S::kSteps; ++step) {
    cp_async_wait<L::kStages - 2>();
    __syncthreads();
    if (step + L::kStages - 1 < S::kSteps) copy_step(step + L::kStages - 1);
    cp_async_commit();
    if constexpr (S::kKeepsQueries)
      if (step == 0)
#pragma unroll
        for (int t = 0; t < L::kTiles; ++t)
#pragma unroll
          for (int k = 0; k < S::kDepth / 16; ++k)
            ldmatrix_x4(kept[t][k], own + (t * 16 + lane % 16) * S::kPitch + k * 16 + lane / 16 * 8);
    const int at = step * S::kStepKeys + split * L::kStep;
    if (at >= L::kKeys) continue;
    const T* keys = reinterpret_cast<const T*>(ring + step % L::kStages * S::kStageBytes);
    const T* values = keys + S::kStepKeys * S::kPitch + split * L::kStep * S::kValuePitch;
    float scores[L::kTiles][L::kStep / 8][4] = {};
    score<L>(scores, own, kept, keys + split * L::kStep * S::kPitch);
    weigh<L>(state, scores, at, hidden);
    gather_values<L>(state, scores, values, parked);
  }
  const AttentionMeeting<L> meeting(shared);
  __syncthreads();  // the ring has been read
  part(state, meeting);
  __syncthreads();
  answer<L, S::kThreads>(meeting, output, first);
}
