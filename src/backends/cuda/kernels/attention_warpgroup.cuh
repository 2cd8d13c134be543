#pragma once

#include "attention.cuh"
#include "warpgroup.cuh"

// Attention over many keys in half precision on wgmma. A block has 64 queries of one batch. Its kSplits consumer
// warpgroups take k-steps of kStep keys in turn, so that the exponentials of one overlap the wgmma of the others. A
// producer warpgroup loads K and V in swizzled 16-byte chunks into a pipeline of kStages stages; separate mbarriers
// signal K full, V full and both empty. S = Q K^T accumulates in registers and P is the register A operand of PV, where
// V is the MN-major operand. The online softmax and the split reduction are those of attention.cuh: a warp has one tile
// of 16 rows, as there.

/// Constants of a layer; kTiles is 1, kGroups is 4.
template <class L>
struct WarpgroupAttentionTraits {
  using S = AttentionTraits<L>;
  static constexpr WarpgroupAttentionTiling kTiling{AttentionLayerShape<L>{}, AttentionLayerTile<L>{}};
  static constexpr int kConsumers = 128 * L::kSplits;
  static constexpr int kProducers = 128;  // threads that load Q, K and V
  static constexpr int kThreads = kConsumers + kProducers;
  static constexpr int kSteps = kTiling.steps;
  static constexpr int kQueryBytes = kTiling.query_bytes;
  static constexpr int kKeyBytes = kTiling.key_bytes;
  static constexpr int kStageBytes = kTiling.stage_bytes;
  static constexpr int kBarriersAt = kTiling.barriers_at;

  static_assert(S::kTensor && L::kTiles == 1 && L::kGroups == 4, "64 rows in half precision");
  static_assert(L::kStep % 16 == 0, "P fragments have 16 keys");
  static_assert(L::Query::kVector == 8 && L::Key::kVector == 8 && L::Value::kVector == 8, "16-byte vectors");
};

/// A block's shared memory and its mbarriers.
template <class L>
struct AttentionPipeline {
  using W = WarpgroupAttentionTraits<L>;
  unsigned char* shared;

  __device__ __forceinline__ unsigned char* queries() const { return shared; }
  __device__ __forceinline__ unsigned char* keys(int stage) const {
    return shared + W::kQueryBytes + stage * W::kStageBytes;
  }
  __device__ __forceinline__ unsigned char* values(int stage) const { return keys(stage) + W::kKeyBytes; }
  __device__ __forceinline__ uint64* q_full() const { return reinterpret_cast<uint64*>(shared + W::kBarriersAt); }
  __device__ __forceinline__ uint64* k_full(int stage) const { return q_full() + 1 + stage; }
  __device__ __forceinline__ uint64* v_full(int stage) const { return k_full(L::kStages + stage); }
  __device__ __forceinline__ uint64* kv_empty(int stage) const { return k_full(2 * L::kStages + stage); }

  __device__ __forceinline__ void init() const {
    mbarrier_init(q_full(), W::kProducers);
    for (int stage = 0; stage < L::kStages; ++stage) {
      mbarrier_init(k_full(stage), W::kProducers);
      mbarrier_init(v_full(stage), W::kProducers);
      mbarrier_init(kv_empty(stage), 4);
    }
    fence_mbarrier_init();
  }
};

/// Copies ROWS tokens from FIRST on, LENGTH channels each, padded to PADDED, in swizzled blocks of 64 channels;
/// zero-fills beyond TOKENS. PRODUCER is the thread's number among the producers.
template <class From, int kRows, int kLength, int kPadded, int kProducers, typename T>
__device__ __forceinline__ void load_tokens_swizzled(unsigned char* shared, const T* __restrict__ from, int first,
                                                     int tokens, int producer) {
  constexpr int kAcross = kPadded / 8;
#pragma unroll 8
  for (int i = 0; i < ceil_div(kRows * kAcross, kProducers); ++i) {
    const int at = producer + i * kProducers;
    if (kRows * kAcross % kProducers != 0 && at >= kRows * kAcross) break;
    const int row = at / kAcross;
    const int chunk = at % kAcross;
    const bool valid = first + row < tokens && chunk * 8 < kLength;
    const T* source = valid ? from + From::token(first + row) + From::channel(chunk * 8) : from;
    cp_async_16(shared + (chunk / 8 * kRows + row) * 128 + (chunk % 8 ^ row % 8) * 16, source, valid);
  }
}

/// Producer warps: load Q from FIRST on, then all K and V.
template <class L>
__device__ __forceinline__ void load_qkv(const AttentionPipeline<L>& pipeline, const typename L::Element* query,
                                         const typename L::Element* key, const typename L::Element* value, int first) {
  using W = WarpgroupAttentionTraits<L>;
  using S = AttentionTraits<L>;
  const int producer = threadIdx.x - W::kConsumers;
  load_tokens_swizzled<typename L::Query, S::kRows, L::kChannels, S::kQkDim, W::kProducers>(
      pipeline.queries(), query, first, L::kQueries, producer);
  cp_async_mbarrier_arrive(pipeline.q_full());
#pragma unroll 1
  for (int step = 0; step < W::kSteps; ++step) {
    const int stage = step % L::kStages;
    if (step >= L::kStages) mbarrier_wait(pipeline.kv_empty(stage), (step / L::kStages + 1) % 2);
    load_tokens_swizzled<typename L::Key, L::kStep, L::kChannels, S::kQkDim, W::kProducers>(
        pipeline.keys(stage), key, step * L::kStep, L::kKeys, producer);
    cp_async_mbarrier_arrive(pipeline.k_full(stage));
    load_tokens_swizzled<typename L::Value, L::kStep, L::kValueChannels, S::kVDim, W::kProducers>(
        pipeline.values(stage), value, step * L::kStep, L::kKeys, producer);
    cp_async_mbarrier_arrive(pipeline.v_full(stage));
  }
}

/// S = Q K^T for one k-step.
template <class L>
__device__ __forceinline__ void qk_wgmma(float (&scores)[1][L::kStep / 8][4], SmemDescriptor queries,
                                         SmemDescriptor keys) {
  using S = AttentionTraits<L>;
  auto& acc = reinterpret_cast<float(&)[L::kStep / 2]>(scores);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < S::kQkDim / 16; ++k)
    wgmma_ss<typename L::Element, L::kStep>(acc, advance_descriptor(queries, k / 4 * S::kRows * 128 + k % 4 * 32),
                                            advance_descriptor(keys, k / 4 * L::kStep * 128 + k % 4 * 32));
  wgmma_commit();
  wgmma_wait<0>();
  fence_operand(acc);
}

/// O += P V for 64 channels, recursively for the following ones.
template <class L, int kBlock = 0>
__device__ __forceinline__ void pv_wgmma(AttentionState<L>& state, const uint32 (&weights)[L::kStep / 16][4],
                                         SmemDescriptor values) {
  constexpr int kColumns = min_of(AttentionTraits<L>::kVDim - 64 * kBlock, 64);
  if constexpr (kColumns > 0) {
    auto& acc = reinterpret_cast<float(&)[kColumns / 2]>(state.acc[0][8 * kBlock]);
#pragma unroll
    for (int k = 0; k < L::kStep / 16; ++k)
      wgmma_rs<typename L::Element, kColumns>(acc, weights[k],
                                              advance_descriptor(values, (kBlock * L::kStep + k * 16) * 128));
    pv_wgmma<L, kBlock + 1>(state, weights, values);
  }
}

/// Consumer warpgroup SPLIT: every kSplits-th k-step.
template <class L>
__device__ __forceinline__ void consume_kv(AttentionState<L>& state, const AttentionPipeline<L>& pipeline,
                                           const AttentionMask<L>& mask, int split) {
  using T = typename L::Element;
  mbarrier_wait(pipeline.q_full(), 0);
  fence_proxy_async();
  const SmemDescriptor queries = k_major_descriptor(pipeline.queries());
#pragma unroll 1
  for (int step = split; step < WarpgroupAttentionTraits<L>::kSteps; step += L::kSplits) {
    const int stage = step % L::kStages;
    const int parity = step / L::kStages % 2;
    float scores[1][L::kStep / 8][4] = {};
    mbarrier_wait(pipeline.k_full(stage), parity);
    fence_proxy_async();
    qk_wgmma<L>(scores, queries, k_major_descriptor(pipeline.keys(stage)));
    online_softmax<L>(state, scores, step * L::kStep, mask);
    uint32 weights[L::kStep / 16][4];
#pragma unroll
    for (int k = 0; k < L::kStep / 16; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&pair)[4] = scores[0][2 * k + i / 2];
        weights[k][i] = pack2<T>(pair[i % 2 * 2], pair[i % 2 * 2 + 1]);
      }
    mbarrier_wait(pipeline.v_full(stage), parity);
    fence_proxy_async();
    wgmma_fence();
    pv_wgmma<L>(state, weights, mn_major_descriptor(pipeline.values(stage)));
    wgmma_commit();
    wgmma_wait<0>();
    fence_operand(reinterpret_cast<float(&)[AttentionTraits<L>::kVDim / 2]>(state.acc));
    if (threadIdx.x % 32 == 0) mbarrier_arrive(pipeline.kv_empty(stage));
  }
}

/// The kernel. MASK is read if kMasked. Grid: blocks of 64 queries, batches.
template <class L>
__device__ __forceinline__ void flash_attention_warpgroup(const typename L::Element* __restrict__ query,
                                                          const typename L::Element* __restrict__ key,
                                                          const typename L::Element* __restrict__ value,
                                                          const typename L::MaskElement* __restrict__ mask,
                                                          typename L::Element* __restrict__ output) {
  using W = WarpgroupAttentionTraits<L>;
  using S = AttentionTraits<L>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const AttentionPipeline<L> pipeline{shared};
  const SplitReduction<L> reduction(shared);
  const int warp = threadIdx.x / 32;
  const int first = blockIdx.x * S::kRows;
  if (threadIdx.x == W::kConsumers) pipeline.init();
  __syncthreads();
  pdl_wait_and_trigger();
  AttentionState<L> state = {};
  state.row_max[0][0] = state.row_max[0][1] = -INFINITY;
  if (warp >= W::kConsumers / 32) {
    load_qkv<L>(pipeline, query + L::Query::batch(blockIdx.y), key + L::Key::batch(blockIdx.y),
                value + L::Value::batch(blockIdx.y), first);
  } else {
    consume_kv<L>(state, pipeline, {mask, first + warp % 4 * 16 + static_cast<int>(threadIdx.x) % 32 / 4}, warp / 4);
  }
  __syncthreads();  // all warps have finished reading the pipeline
  if (warp < W::kConsumers / 32) store_partials(state, reduction);
  __syncthreads();
  reduce_splits<L, W::kThreads>(reduction, output + L::Out::batch(blockIdx.y), first);
}
