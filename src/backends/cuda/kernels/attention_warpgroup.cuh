#pragma once

#include "attention.cuh"
#include "warpgroup.cuh"

// Attention of many keys in halves, on Hopper's warpgroup instructions: a block has 64 queries of one batch, and its
// kSplits warpgroups take steps of kStep keys in turn, so that one's exponentials hide the others' products. One more
// brings keys and values, in 16 bytes that are swizzled on their way, into a ring of kStages steps; barriers tell each
// step's keys there, its values there, and both free. A warpgroup's scores are sums in registers, and its weights the
// left operand of the second product as they lie; values stand by rows of keys, along which it sums. What weights are
// and how the warpgroups' sums meet is attention.cuh's: a warp has the 16 rows of a tile of its own, as there.

/// What follows from a layer's constants (kTiles is 1, kGroups 4), for the host counts the same.
template <class L>
struct WarpgroupAttention {
  using S = AttentionTiling<L>;
  static constexpr int kConsumers = 128 * L::kSplits;
  static constexpr int kCopiers = 128;  // threads that bring queries, keys and values
  static constexpr int kThreads = kConsumers + kCopiers;
  static constexpr int kSteps = ceil_div(L::kKeys, L::kStep);
  // Tokens lie in blocks of 64 channels, a row of 128 bytes each.
  static constexpr int kQueryBytes = ceil_div(S::kDepth, 64) * S::kRows * 128;
  static constexpr int kKeyBytes = ceil_div(S::kDepth, 64) * L::kStep * 128;
  static constexpr int kStageBytes = kKeyBytes + ceil_div(S::kWidth, 64) * L::kStep * 128;
  static constexpr int kBarriersAt = max_of(kQueryBytes + L::kStages * kStageBytes, S::kSumBytes);
  static constexpr int kSharedBytes = kBarriersAt + 8 * (3 * L::kStages + 1);

  static_assert(S::kTensor && L::kTiles == 1 && L::kGroups == 4, "64 rows of halves");
  static_assert(L::kStep % 16 == 0, "weights are fragments of 16 keys");
  static_assert(L::Query::kVector == 8 && L::Key::kVector == 8 && L::Value::kVector == 8, "copies are of 16 bytes");
};

/// A block's shared memory.
template <class L>
struct AttentionRing {
  using W = WarpgroupAttention<L>;
  unsigned char* shared;

  __device__ __forceinline__ unsigned char* queries() const { return shared; }
  __device__ __forceinline__ unsigned char* keys(int stage) const {
    return shared + W::kQueryBytes + stage * W::kStageBytes;
  }
  __device__ __forceinline__ unsigned char* values(int stage) const { return keys(stage) + W::kKeyBytes; }
  __device__ __forceinline__ uint64* queries_there() const {
    return reinterpret_cast<uint64*>(shared + W::kBarriersAt);
  }
  __device__ __forceinline__ uint64* keys_there(int stage) const { return queries_there() + 1 + stage; }
  __device__ __forceinline__ uint64* values_there(int stage) const { return keys_there(L::kStages + stage); }
  __device__ __forceinline__ uint64* free(int stage) const { return keys_there(2 * L::kStages + stage); }

  __device__ __forceinline__ void prepare() const {
    mbarrier_init(queries_there(), W::kCopiers);
    for (int stage = 0; stage < L::kStages; ++stage) {
      mbarrier_init(keys_there(stage), W::kCopiers);
      mbarrier_init(values_there(stage), W::kCopiers);
      mbarrier_init(free(stage), 4);
    }
    fence_mbarrier_init();
  }
};

/// Copies ROWS tokens from FIRST on, of which there are TOKENS, each LENGTH channels padded to PADDED, in blocks of 64
/// channels; zeros beyond. COPIER is the thread's number among those that do.
template <class From, int kRows, int kLength, int kPadded, int kCopiers, typename T>
__device__ __forceinline__ void copy_rows(unsigned char* shared, const T* __restrict__ from, int first, int tokens,
                                          int copier) {
  constexpr int kAcross = kPadded / 8;
#pragma unroll 8
  for (int i = 0; i < ceil_div(kRows * kAcross, kCopiers); ++i) {
    const int at = copier + i * kCopiers;
    if (kRows * kAcross % kCopiers != 0 && at >= kRows * kAcross) break;
    const int row = at / kAcross;
    const int chunk = at % kAcross;
    const bool valid = first + row < tokens && chunk * 8 < kLength;
    const T* source = valid ? from + From::token(first + row) + From::channel(chunk * 8) : from;
    cp_async_16(shared + (chunk / 8 * kRows + row) * 128 + (chunk % 8 ^ row % 8) * 16, source, valid);
  }
}

/// What the warps do that bring the queries from FIRST on, and all keys and values.
template <class L>
__device__ __forceinline__ void bring_tokens(const AttentionRing<L>& ring, const typename L::Element* query,
                                             const typename L::Element* key, const typename L::Element* value,
                                             int first) {
  using W = WarpgroupAttention<L>;
  using S = AttentionTiling<L>;
  const int copier = threadIdx.x - W::kConsumers;
  copy_rows<typename L::Query, S::kRows, L::kChannels, S::kDepth, W::kCopiers>(ring.queries(), query, first,
                                                                               L::kQueries, copier);
  cp_async_mbarrier_arrive(ring.queries_there());
#pragma unroll 1
  for (int step = 0; step < W::kSteps; ++step) {
    const int stage = step % L::kStages;
    if (step >= L::kStages) mbarrier_wait(ring.free(stage), (step / L::kStages + 1) % 2);
    copy_rows<typename L::Key, L::kStep, L::kChannels, S::kDepth, W::kCopiers>(ring.keys(stage), key, step * L::kStep,
                                                                               L::kKeys, copier);
    cp_async_mbarrier_arrive(ring.keys_there(stage));
    copy_rows<typename L::Value, L::kStep, L::kValueChannels, S::kWidth, W::kCopiers>(
        ring.values(stage), value, step * L::kStep, L::kKeys, copier);
    cp_async_mbarrier_arrive(ring.values_there(stage));
  }
}

/// SCORES of a step's keys, which lie from KEYS on.
template <class L>
__device__ __forceinline__ void score_step(float (&scores)[1][L::kStep / 8][4], SmemDescriptor queries, SmemDescriptor keys) {
  using S = AttentionTiling<L>;
  auto& sums = reinterpret_cast<float(&)[L::kStep / 2]>(scores);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < S::kDepth / 16; ++k)
    wgmma_ss<typename L::Element, L::kStep>(sums, advance_descriptor(queries, k / 4 * S::kRows * 128 + k % 4 * 32),
                                                          advance_descriptor(keys, k / 4 * L::kStep * 128 + k % 4 * 32));
  wgmma_commit();
  wgmma_wait<0>();
  fence_operand(sums);
}

/// Adds a step's values, which lie from VALUES on, times their WEIGHTS to 64 channels and, by itself, to those behind.
template <class L, int kBlock = 0>
__device__ __forceinline__ void add_values(AttentionState<L>& state, const uint32 (&weights)[L::kStep / 16][4],
                                           SmemDescriptor values) {
  constexpr int kColumns = min_of(AttentionTiling<L>::kWidth - 64 * kBlock, 64);
  if constexpr (kColumns > 0) {
    auto& sums = reinterpret_cast<float(&)[kColumns / 2]>(state.sums[0][8 * kBlock]);
#pragma unroll
    for (int k = 0; k < L::kStep / 16; ++k)
      wgmma_rs<typename L::Element, kColumns>(sums, weights[k],
                                                          advance_descriptor(values, (kBlock * L::kStep + k * 16) * 128));
    add_values<L, kBlock + 1>(state, weights, values);
  }
}

/// What warpgroup number SPLIT makes of its steps.
template <class L>
__device__ __forceinline__ void attend_steps(AttentionState<L>& state, const AttentionRing<L>& ring,
                                             const AttentionMask<L>& mask, int split) {
  using T = typename L::Element;
  mbarrier_wait(ring.queries_there(), 0);
  fence_proxy_async();
  const SmemDescriptor queries = k_major_descriptor(ring.queries());
#pragma unroll 1
  for (int step = split; step < WarpgroupAttention<L>::kSteps; step += L::kSplits) {
    const int stage = step % L::kStages;
    const int parity = step / L::kStages % 2;
    float scores[1][L::kStep / 8][4] = {};
    mbarrier_wait(ring.keys_there(stage), parity);
    fence_proxy_async();
    score_step<L>(scores, queries, k_major_descriptor(ring.keys(stage)));
    weigh<L>(state, scores, step * L::kStep, mask);
    uint32 weights[L::kStep / 16][4];
#pragma unroll
    for (int k = 0; k < L::kStep / 16; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&pair)[4] = scores[0][2 * k + i / 2];
        weights[k][i] = pack2<T>(pair[i % 2 * 2], pair[i % 2 * 2 + 1]);
      }
    mbarrier_wait(ring.values_there(stage), parity);
    fence_proxy_async();
    wgmma_fence();
    add_values<L>(state, weights, mn_major_descriptor(ring.values(stage)));
    wgmma_commit();
    wgmma_wait<0>();
    fence_operand(reinterpret_cast<float(&)[AttentionTiling<L>::kWidth / 2]>(state.sums));
    if (threadIdx.x % 32 == 0) mbarrier_arrive(ring.free(stage));
  }
}

/// The whole kernel. MASK is read where kMasked. Grid: blocks of 64 queries, batches.
template <class L>
__device__ __forceinline__ void attend_by_warpgroups(const typename L::Element* __restrict__ query,
                                                     const typename L::Element* __restrict__ key,
                                                     const typename L::Element* __restrict__ value,
                                                     const typename L::MaskElement* __restrict__ mask,
                                                     typename L::Element* __restrict__ output) {
  using W = WarpgroupAttention<L>;
  using S = AttentionTiling<L>;
  static_assert(W::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(1024) unsigned char shared[];
  const AttentionRing<L> ring{shared};
  const AttentionMeeting<L> meeting(shared);
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.x * S::kRows;
  if (threadIdx.x == W::kConsumers) ring.prepare();
  __syncthreads();
  pdl_wait_and_trigger();
  AttentionState<L> state = {};
  state.greatest[0][0] = state.greatest[0][1] = -INFINITY;
  if (warp >= W::kConsumers / 32) {
    bring_tokens<L>(ring, query + L::Query::batch(blockIdx.y), key + L::Key::batch(blockIdx.y),
                    value + L::Value::batch(blockIdx.y), first);
  } else {
    attend_steps<L>(state, ring, {mask, first + warp % 4 * 16 + static_cast<int>(threadIdx.x) % 32 / 4}, warp / 4);
  }
  __syncthreads();  // the ring has been read
  if (warp < W::kConsumers / 32) part(state, meeting);
  __syncthreads();
  answer<L, W::kThreads>(meeting, output + L::Answer::batch(blockIdx.y), first);
}
