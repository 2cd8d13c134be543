#pragma once

#include "tile.cuh"
#include "warpgroup.cuh"
#include "warpgroup_tiling.hpp"

// Warp-specialised GEMM with constant weights on wgmma: D [rows][filters] = A [rows][channels] x B, where A is the
// input and B the weights. A convolution whose windows do not overlap is one too: a row of A is then a window, made of
// runs of kRunChannels contiguous elements that are kRunPitch apart. The host writes a struct Layer of constants
// (warpgroup_plan.cpp).
//
// At batch 1 such a GEMM takes three to six microseconds, of which the arithmetic is the smaller part. wgmma therefore
// computes the transpose: filters are its M = 64, and input rows its N, which may be any multiple of 8. So few rows are
// divided into as many tiles as there are SMs without waste. Both operands come from shared memory, through a pipeline
// of kStages stages of kDepth x 64 channels. One producer warp loads B by cp.async.bulk, from blocks that the host has
// packed in their shared-memory layout, and starts before the preceding launch has ended. Three producer warps load A
// by cp.async in 16-byte chunks, swizzled on the way. Full and empty mbarriers synchronise each stage; the main loop
// has no block-wide barrier.
//
// The host chooses the order of filters within M = 64: filters adjacent in memory belong to one lane, 2 per M tile of
// the warpgroup, and those of 8 lanes are adjacent. The epilogue therefore stores whole sectors straight from
// registers. K may be split over the blocks of a cluster: each block finishes some of the rows and receives their
// partial accumulators from the others by st.async.
//
// Rows may be normalised to mean 0 and deviation 1 first (kNormalizes). Accumulators are then computed from the raw
// rows and corrected in the epilogue (normalized_weights.hpp). The producer warps of A compute the moments of the rows
// they have loaded while these are multiplied, and leave each row's correction in shared memory.
//
// Measured on an H200 in float16 at batch 1, each shape in a captured chain of itself, its weights rotating over 24
// copies, best tiles of both kernels, in us; this kernel first, then convolution.cuh. 197 rows: 768x2304 3.3 and 7.2,
// 768x768 2.4 and 3.2, 768x3072 with GELU 4.8 and 8.2, 3072x768 5.2 and 10.4. 785 rows: 384x1152 3.0 and 4.8, 384x384
// 2.0 and 2.9, 384x1536 with GELU 4.3 and 7.2, 1536x384 4.1 and 7.9. 1x1 convolutions: 6400x192x64 2.1 and 2.5,
// 1600x384x128 2.0 and 2.4, 400x512x256 1.9 and 2.1, 196x1024x256 2.0 and 2.3. Loading A by TMA tensor maps instead
// changed times by 4 % to -15 %, and not at all with the best tiles.

/// A layer's shape and tile under the names of WarpgroupTiling.
template <class L>
struct WarpgroupLayerShape {
  static constexpr int channels = L::kChannels, filters = L::kFilters;
  static constexpr bool normalizes() { return L::kNormalizes; }
};
template <class L>
struct WarpgroupLayerTile {
  static constexpr int rows = L::kTileRows, tiles = L::kTiles, warpgroups = L::kWarpgroups, depth = L::kDepth;
  static constexpr int split = L::kSplit, stages = L::kStages;
};

template <class L>
struct WarpgroupTraits {
  static constexpr WarpgroupTiling kTiling{WarpgroupLayerShape<L>{}, WarpgroupLayerTile<L>{}};
  static constexpr int kConsumers = kTiling.consumers;
  static constexpr int kLoadAThreads = 96;  // producer threads of A
  static constexpr int kTileFilters = kTiling.tile_filters;
  static constexpr int kFilterTiles = kTiling.filter_tiles;
  static constexpr int kWeightBytes = kTiling.weight_bytes;
  static constexpr int kBlockBytes = kTiling.block_bytes;
  static constexpr int kStageBytes = kTiling.stage_bytes;
  static constexpr int kSteps = kTiling.steps;
  static constexpr int kBlockSteps = kTiling.block_steps;
  static constexpr int kStages = kTiling.stages;

  static constexpr int kColumns = kTiling.columns;
  static constexpr int kOwned = kTiling.owned;
  static constexpr int kLane = 2 * L::kTiles;  // adjacent filters of a lane
  static constexpr bool kVectors = L::kFilters % kLane == 0 && L::kOutPitch % kLane == 0;
  static constexpr int kReceivedAt = kTiling.received_at;
  static constexpr int kPartialBytes = kTiling.partial_bytes;
  static constexpr int kBarriersAt = kTiling.barriers_at;
  static constexpr int kCorrectionsAt = kTiling.corrections_at;

  static_assert(L::kTileRows % 8 == 0, "wgmma takes multiples of 8 columns");
  static constexpr bool kWindows = L::kWindowPitch > 0;
  static_assert(L::kRunChannels % 8 == 0 && L::kInPitch % 8 == 0 && L::kRunPitch % 8 == 0 && L::kWindowPitch % 8 == 0,
                "rows are copied in 16 bytes");
  static_assert(!L::kNormalizes || (L::kSplit == 1 && !kWindows), "normalisation needs whole rows");

  // The A producers pass over the rows of a tile; 8 of them load 64 channels of one row.
  static constexpr int kPassRows = kLoadAThreads / 8;
  static constexpr int kPasses = ceil_div(L::kTileRows, kPassRows);
};

/// A normalised row's accumulator is scaled by FACTOR; the sum of a filter's weights is scaled by OFFSET and added.
struct alignas(8) Correction {
  float factor, offset;
};

/// A block's pipeline: its stages, their mbarriers and its range of k-steps.
template <class L>
struct WarpgroupPipeline {
  using S = WarpgroupTraits<L>;
  unsigned char* shared;
  int first_step;
  int steps;

  __device__ __forceinline__ uint64* full(int stage) const {
    return reinterpret_cast<uint64*>(shared + S::kBarriersAt) + stage;
  }
  __device__ __forceinline__ uint64* empty(int stage) const { return full(S::kStages + stage); }
  __device__ __forceinline__ uint64* received() const { return full(2 * S::kStages); }
  /// Completes when all row corrections are in shared memory.
  __device__ __forceinline__ uint64* corrected() const { return full(2 * S::kStages + 1); }
  __device__ __forceinline__ Correction* corrections() const {
    return reinterpret_cast<Correction*>(shared + S::kCorrectionsAt);
  }
  __device__ __forceinline__ unsigned char* weights(int stage) const { return shared + stage * S::kStageBytes; }
  __device__ __forceinline__ unsigned char* input(int stage) const { return weights(stage) + S::kWeightBytes; }

  __device__ __forceinline__ void init(int received_bytes) const {
    for (int stage = 0; stage < S::kStages; ++stage) {
      mbarrier_init(full(stage), 1 + S::kLoadAThreads);
      mbarrier_init(empty(stage), S::kConsumers / 32);
    }
    mbarrier_init(received());
    if constexpr (L::kNormalizes) mbarrier_init(corrected(), S::kLoadAThreads);
    fence_mbarrier_init();
    if (received_bytes > 0) mbarrier_arrive_expect_tx(received(), received_bytes);
  }
  /// Producer acquire: waits until STEP's stage is empty.
  __device__ __forceinline__ void acquire(int step) const {
    if (step >= S::kStages) mbarrier_wait(empty(step % S::kStages), (step / S::kStages + 1) % 2);
  }
};

/// Producer warp of B. FROM is the first k-step of this block's tile.
template <class L>
__device__ __forceinline__ void load_b(const WarpgroupPipeline<L>& pipeline, const unsigned char* from) {
  using S = WarpgroupTraits<L>;
  const bool elected = threadIdx.x % 32 == 0;
  const auto copy = [&](int step) {
    const int stage = step % S::kStages;
    mbarrier_arrive_expect_tx(pipeline.full(stage), S::kWeightBytes);
    cp_async_bulk(pipeline.weights(stage), from + static_cast<int64>(step) * S::kWeightBytes, S::kWeightBytes,
                  pipeline.full(stage));
  };
  const int ahead = min_of(pipeline.steps, S::kStages);
  if (elected) {
    for (int step = 0; step < ahead; ++step) copy(step);
    // Blocks of other row tiles read the same weights.
    if (S::kBlockSteps > S::kStages && blockIdx.x == 0 && pipeline.steps > ahead)
      prefetch_bulk_l2(from + static_cast<int64>(ahead) * S::kWeightBytes, (pipeline.steps - ahead) * S::kWeightBytes);
  }
  pdl_wait_and_trigger();
  if (elected)
    for (int step = ahead; step < pipeline.steps; ++step) {
      pipeline.acquire(step);
      copy(step);
    }
}

/// One thread's share of the moments of its rows, over the elements it has loaded. Values are shifted by the row's
/// first element, so that a large mean costs no mantissa bits. If that element is an outlier, the deviation is large as
/// well.
template <class L>
struct RowMoments {
  using S = WarpgroupTraits<L>;
  float first[S::kPasses];
  float sum[S::kPasses] = {};
  float squares[S::kPasses] = {};

  __device__ __forceinline__ void add(const WarpgroupPipeline<L>& pipeline, int step, int row, int chunk) {
    using T = typename L::Element;
    mbarrier_wait(pipeline.full(step % S::kStages), step / S::kStages % 2);
#pragma unroll
    for (int d = 0; d < L::kDepth; ++d) {
      const bool inside =
          L::kChannels % (64 * L::kDepth) == 0 || (step * L::kDepth + d) * 64 + chunk * 8 < L::kChannels;
#pragma unroll
      for (int pass = 0; pass < S::kPasses; ++pass) {
        const int at = row + pass * S::kPassRows;
        const bool there = L::kTileRows % S::kPassRows == 0 || pass < S::kPasses - 1 || at < L::kTileRows;
        Packed<T, 8> eight = {};
        if (there)
          eight = load_packed<8>(reinterpret_cast<const T*>(pipeline.input(step % S::kStages) + d * S::kBlockBytes +
                                                            at * 128 + (chunk ^ at % 8) * 16));
        if (d == 0 && step == 0) first[pass] = __shfl_sync(0xFFFFFFFFu, widen(eight.data[0]), threadIdx.x % 32 & 24);
        if (!inside) continue;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float distance = widen(eight.data[i]) - first[pass];
          sum[pass] += distance;
          squares[pass] += distance * distance;
        }
      }
    }
  }
  /// Reduces over the 8 threads that loaded the same row. FACTOR is that of the weights.
  __device__ __forceinline__ void store_corrections(const WarpgroupPipeline<L>& pipeline, int row, int chunk,
                                                    float factor) const {
    constexpr float kShare = 1.0f / L::kChannels;
#pragma unroll
    for (int pass = 0; pass < S::kPasses; pass += 8) {
      // Each of the 8 threads finishes one row.
      const float mean = reduce_eight(sum, pass, chunk) * kShare;
      const float rounded = reduce_eight(squares, pass, chunk) * kShare - mean * mean;
      const float variance = rounded < 0 ? 0 : rounded;  // keeps NaN
      float from = 0;
#pragma unroll
      for (int i = pass; i < min_of(pass + 8, S::kPasses); ++i)
        if (i - pass == chunk) from = first[i];
      const float deviations = factor * rsqrtf(variance + L::kEpsilon);
      const int at = row + (pass + chunk) * S::kPassRows;
      if (at < L::kTileRows) pipeline.corrections()[at] = {deviations, -(from + mean) * deviations};
    }
    mbarrier_arrive(pipeline.corrected());
  }
  /// Butterfly reduction over 8 threads of eight passes from FIRST_PASS on; thread CHUNK receives the total of pass
  /// CHUNK. Each round halves the passes that a thread still holds.
  static __device__ __forceinline__ float reduce_eight(const float (&shares)[S::kPasses], int first_pass, int chunk) {
    float eight[8];
#pragma unroll
    for (int i = 0; i < 8; ++i)
      eight[i] = first_pass + i < S::kPasses ? shares[min_of(first_pass + i, S::kPasses - 1)] : 0.0f;
#pragma unroll
    for (int half = 4; half > 0; half /= 2) {
      const bool upper = (chunk & half) != 0;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const float given = upper ? eight[i] : eight[i + half];
        eight[i] = (upper ? eight[i + half] : eight[i]) + __shfl_xor_sync(0xFFFFFFFFu, given, half);
      }
    }
    return eight[0];
  }
};

/// Producer warps of A. Rows from FIRST_ROW on; FACTOR is that of the weights of normalised rows.
template <class L>
__device__ __forceinline__ void load_a(const WarpgroupPipeline<L>& pipeline, const typename L::Element* input,
                                       int first_row, float factor) {
  using S = WarpgroupTraits<L>;
  constexpr int kPassRows = S::kPassRows;
  constexpr int kPasses = S::kPasses;
  const int thread = threadIdx.x - S::kConsumers - 32;
  const int chunk = thread % 8;
  const int row = thread / 8;
  int from[S::kWindows ? kPasses : 1];
#pragma unroll
  for (int pass = 0; pass < (S::kWindows ? kPasses : 1); ++pass) {
    const int at = first_row + row + pass * kPassRows;
    from[pass] = at * L::kInPitch;
    if constexpr (S::kWindows)
      from[pass] = at / (L::kOutHeight * L::kOutWidth) * L::kImagePitch +
                   at / L::kOutWidth % L::kOutHeight * L::kWindowPitch + at % L::kOutWidth * L::kInPitch;
  }
  const auto load = [&](int step) {
    pipeline.acquire(step);
    const int stage = step % S::kStages;
#pragma unroll
    for (int d = 0; d < L::kDepth; ++d) {
      const int channel = ((pipeline.first_step + step) * L::kDepth + d) * 64 + chunk * 8;
      const bool inside = L::kChannels % (64 * L::kDepth) == 0 || channel < L::kChannels;
      const typename L::Element* run =
          input + (S::kWindows ? 0 : from[0]) + channel / L::kRunChannels * L::kRunPitch + channel % L::kRunChannels;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        const int at = row + pass * kPassRows;
        if (L::kTileRows % kPassRows != 0 && pass == kPasses - 1 && at >= L::kTileRows) break;
        const bool valid = inside && (L::kRows % L::kTileRows == 0 || first_row + at < L::kRows);
        cp_async_16(pipeline.input(stage) + d * S::kBlockBytes + at * 128 + (chunk ^ at % 8) * 16,
                    valid ? run + (S::kWindows ? from[pass] : pass * kPassRows * L::kInPitch) : input, valid);
      }
    }
    cp_async_mbarrier_arrive(pipeline.full(stage));
  };
  pdl_wait_and_trigger();
  if constexpr (L::kNormalizes) {
    RowMoments<L> moments;
    for (int step = 0; step < pipeline.steps + S::kStages; ++step) {
      // Moments of a stage are taken before it is overwritten, while later stages are in flight.
      if (step >= S::kStages) moments.add(pipeline, step - S::kStages, row, chunk);
      if (step < pipeline.steps) load(step);
    }
    moments.store_corrections(pipeline, row, chunk, factor);
  } else {
    for (int step = 0; step < pipeline.steps; ++step) load(step);
  }
}

/// Main loop of a consumer warpgroup.
template <class L>
__device__ __forceinline__ void mainloop(float (&acc)[L::kTiles][L::kTileRows / 2],
                                         const WarpgroupPipeline<L>& pipeline, int warpgroup) {
  using S = WarpgroupTraits<L>;
  // The compiler unrolls a loop of one step and would zero accumulators between wgmmas, which serialises them.
#pragma unroll
  for (int tile = 0; tile < L::kTiles; ++tile) fence_operand(acc[tile]);
#pragma unroll 1
  for (int step = 0; step < pipeline.steps; ++step) {
    const int stage = step % S::kStages;
    mbarrier_wait(pipeline.full(stage), step / S::kStages % 2);
    fence_proxy_async();
    const SmemDescriptor weights =
        k_major_descriptor(pipeline.weights(stage) + warpgroup * L::kTiles * L::kDepth * 8192);
    const SmemDescriptor input = k_major_descriptor(pipeline.input(stage));
    wgmma_fence();
#pragma unroll
    for (int d = 0; d < L::kDepth; ++d)
#pragma unroll
      for (int unit = 0; unit < 4; ++unit)
#pragma unroll
        for (int tile = 0; tile < L::kTiles; ++tile)
          wgmma_ss<typename L::Element, L::kTileRows>(
              acc[tile], advance_descriptor(weights, (tile * L::kDepth + d) * 8192 + unit * 32),
              advance_descriptor(input, d * S::kBlockBytes + unit * 32));
    wgmma_commit();
    wgmma_wait<1>();
    if (step > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(pipeline.empty((step - 1) % S::kStages));
  }
  wgmma_wait<0>();
#pragma unroll
  for (int tile = 0; tile < L::kTiles; ++tile) fence_operand(acc[tile]);
}

/// Split-K reduction over the cluster. Afterwards the column groups that this block owns are complete.
template <class L>
__device__ __forceinline__ void reduce_split_k(float (&acc)[L::kTiles][L::kTileRows / 2],
                                               const WarpgroupPipeline<L>& pipeline, int rank) {
  using S = WarpgroupTraits<L>;
  float4* partials = reinterpret_cast<float4*>(pipeline.shared + S::kReceivedAt);
  const auto slot = [&](int source, int column, int tile) {
    return partials + ((source * S::kOwned + column % S::kOwned) * L::kTiles + tile) * S::kConsumers + threadIdx.x;
  };
#pragma unroll
  for (int column = 0; column < S::kColumns; ++column) {
    const int owner = column / S::kOwned;
    if (owner == rank) continue;
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      const float* four = acc[tile] + 4 * column;
      st_async_dsmem(owner, slot(rank < owner ? rank : rank - 1, column, tile),
                     make_float4(four[0], four[1], four[2], four[3]), pipeline.received());
    }
  }
  if (rank * S::kOwned < S::kColumns) mbarrier_wait(pipeline.received(), 0);
#pragma unroll
  for (int column = 0; column < S::kColumns; ++column) {
    if (column / S::kOwned != rank) continue;
#pragma unroll
    for (int source = 0; source < L::kSplit - 1; ++source)
#pragma unroll
      for (int tile = 0; tile < L::kTiles; ++tile) {
        const float4 more = *slot(source, column, tile);
        float* four = acc[tile] + 4 * column;
        four[0] += more.x, four[1] += more.y, four[2] += more.z, four[3] += more.w;
      }
  }
}

/// Output addresses, bias and post-ops of a lane.
template <class L, class PostOps>
struct WarpgroupEpilogue {
  using S = WarpgroupTraits<L>;
  using T = typename L::Element;
  static constexpr int kLane = S::kLane;
  using Operands = typename PostOps::template Operands<kLane>;
  /// Few operands are prefetched before the main loop, many are loaded after it, when registers are free.
  static constexpr bool kEarly =
      S::kVectors && 2 * S::kOwned * static_cast<int>(sizeof(Operands)) + L::kTiles * L::kTileRows * 2 <= 320;

  int first_row;  // of column group 0
  int filter;
  Packed<float, kLane> bias;
  Packed<float, kLane> weight_sums;  // normalised rows only
  const Correction* corrections;     // from column group 0 on
  Operands operands[kEarly ? 2 * S::kOwned : 1];

  __device__ __forceinline__ bool inside(int column, int e) const {
    return first_row + 8 * column + e < L::kRows && filter < L::kFilters;
  }
  __device__ __forceinline__ int offset(int column, int e) const {
    return (first_row + 8 * column + e) * L::kOutPitch + filter;
  }
  __device__ __forceinline__ void prefetch(const PostOps& post_ops, int rank) {
    if constexpr (kEarly) {
#pragma unroll
      for (int t = 0; t < S::kOwned; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (rank * S::kOwned + t < S::kColumns && inside(rank * S::kOwned + t, e))
            operands[2 * t + e] = post_ops.template load<kLane>(offset(rank * S::kOwned + t, e));
    }
  }
  /// Stores the column groups from FIRST on that one block owns, several at a time, so that the instructions of their
  /// elements interleave.
  __device__ __forceinline__ void store(T* __restrict__ output, const float (&acc)[L::kTiles][L::kTileRows / 2],
                                        int first, const PostOps& post_ops) const {
    constexpr int kBatch = 4;
#pragma unroll
    for (int from = 0; from < S::kOwned; from += kBatch) {
      const auto each = [&](const auto& work) {
#pragma unroll
        for (int at = 0; at < 2 * kBatch; ++at)
          if (from + at / 2 < S::kOwned && first + from + at / 2 < S::kColumns)
            work(at, 2 * from + at, first + from + at / 2, at % 2);
      };
      float x[2 * kBatch][kLane];
      Operands late[kEarly ? 1 : 2 * kBatch];
      if constexpr (S::kVectors && !kEarly)
        each([&](int at, int, int column, int e) {
          if (inside(column, e)) late[at] = post_ops.template load<kLane>(offset(column, e));
        });
      each([&](int at, int item, int column, int e) {
#pragma unroll
        for (int i = 0; i < kLane; ++i) x[at][i] = finished(acc[i / 2][4 * column + i % 2 * 2 + e], column, e, i);
        if constexpr (S::kVectors) post_ops.apply(x[at], kEarly ? operands[kEarly ? item : 0] : late[kEarly ? 0 : at]);
      });
      each([&](int at, int, int column, int e) {
        if (inside(column, e)) store_row(output + offset(column, e), x[at], offset(column, e), post_ops);
      });
    }
  }

  __device__ __forceinline__ float finished(float sum, int column, int e, int i) const {
    if constexpr (L::kNormalizes) {
      const Correction correction = corrections[8 * column + e];
      return sum * correction.factor + (weight_sums.data[i] * correction.offset + bias.data[i]);
    } else {
      return sum + bias.data[i];
    }
  }

  __device__ __forceinline__ void store_row(T* __restrict__ to, const float (&x)[kLane], int at,
                                            const PostOps& post_ops) const {
    if constexpr (S::kVectors) {
      store_packed(to, x);
    } else {
#pragma unroll
      for (int i = 0; i < kLane; ++i) {
        if (filter + i >= L::kFilters) break;
        float one[1] = {x[i]};
        post_ops.apply(one, post_ops.template load<1>(at + i));
        to[i] = Narrow<T>::from(one[0]);
      }
    }
  }
};

/// The kernel. WEIGHTS are blocks of WarpgroupTraits::kWeightBytes by filter tile and k-step. BIASES has one float per
/// filter, padded to whole tiles; for normalised rows the sums of weights and their factor follow. Grid: row tiles,
/// filter tiles, kSplit blocks of a cluster.
template <class L, class PostOps>
__device__ __forceinline__ void warp_specialized_gemm(const typename L::Element* __restrict__ input,
                                                      const unsigned char* __restrict__ weights,
                                                      const float* __restrict__ biases,
                                                      typename L::Element* __restrict__ output,
                                                      const PostOps& post_ops) {
  using S = WarpgroupTraits<L>;
  extern __shared__ __align__(1024) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int rank = L::kSplit > 1 ? blockIdx.z : 0;
  const int first_step = rank * S::kBlockSteps;
  const int steps = L::kSplit > 1 ? max_of(min_of(S::kSteps - first_step, S::kBlockSteps), 0) : S::kSteps;
  const WarpgroupPipeline<L> pipeline{shared, first_step, steps};
  const int first_row = blockIdx.x * L::kTileRows;
  constexpr int kWeightWarp = S::kConsumers / 32;

  if (threadIdx.x == S::kConsumers) {
    const int owned = max_of(min_of(S::kColumns - rank * S::kOwned, S::kOwned), 0);
    pipeline.init(owned * (L::kSplit - 1) * S::kPartialBytes);
  }
  __syncthreads();
  if constexpr (L::kSplit > 1) cluster_arrive();

  if (warp == kWeightWarp) {
    load_b<L>(pipeline, weights + (static_cast<int64>(blockIdx.y) * S::kSteps + first_step) * S::kWeightBytes);
    __syncwarp();
    if constexpr (L::kSplit > 1) cluster_wait();
  } else if (warp > kWeightWarp) {
    constexpr int kFactorAt = 2 * S::kFilterTiles * S::kTileFilters;
    load_a<L>(pipeline, input, first_row, L::kNormalizes ? biases[kFactorAt] : 1.0f);
    if constexpr (L::kSplit > 1) cluster_wait();
  } else {
    const int lane = threadIdx.x % 32;
    const int warpgroup = warp / 4;
    WarpgroupEpilogue<L, PostOps> epilogue;
    epilogue.first_row = first_row + lane % 4 * 2;
    epilogue.filter = blockIdx.y * S::kTileFilters + warpgroup * 64 * L::kTiles + (warp % 4 * 8 + lane / 4) * S::kLane;
    epilogue.bias = load_packed<S::kLane>(biases + epilogue.filter);
    if constexpr (L::kNormalizes) {
      epilogue.weight_sums = load_packed<S::kLane>(biases + S::kFilterTiles * S::kTileFilters + epilogue.filter);
      epilogue.corrections = pipeline.corrections() + lane % 4 * 2;
    }
    float acc[L::kTiles][L::kTileRows / 2] = {};
    pdl_wait_and_trigger();
    epilogue.prefetch(post_ops, rank);
    mainloop<L>(acc, pipeline, warpgroup);
    if constexpr (L::kNormalizes) mbarrier_wait(pipeline.corrected(), 0);
    if constexpr (L::kSplit > 1) {
      cluster_wait();
      reduce_split_k<L>(acc, pipeline, rank);
    }
#pragma unroll
    for (int owner = 0; owner < L::kSplit; ++owner)
      if (L::kSplit == 1 || owner == rank) epilogue.store(output, acc, owner * S::kOwned, post_ops);
  }
}
