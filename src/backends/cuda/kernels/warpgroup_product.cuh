#pragma once

#include "tile.cuh"
#include "warpgroup.cuh"

// Products with constant weights on Hopper's warpgroup instructions: OUTPUT [rows][filters] = INPUT [rows][channels]
// times weights. A convolution whose windows don't overlap is one, too: a row is then a window, of runs of
// kLineChannels elements that lie kLinePitch apart. The host writes a struct Layer of constants (warpgroup_plan.cpp).
//
// At batch 1 such a product takes three to six microseconds, of which arithmetic is the smaller part. So filters are
// the 64 rows of an instruction and the input's rows its columns, whose number is any multiple of 8: few rows are cut
// into as many tiles as there are multiprocessors, without waste. Both operands come from shared memory: a ring of
// kStages steps of kDepth times 64 channels. One warp brings weights, by bulk copies of blocks that the host has laid
// out as they lie there, and begins before the launch before has ended; three warps bring the input's rows, in 16 bytes
// that are swizzled on their way. Barriers tell each stage full and free; no thread of the block waits for all others.
//
// The order in which filters stand in an instruction's 64 rows is the host's: filters side by side in memory are a
// lane's own, 2 for every tile of 64 that the warpgroup has, and 8 lanes' lie side by side. So sums leave straight from
// registers, in whole sectors. The sum may be split over the blocks of a cluster: each finishes some of the rows, and
// gets the others' sums of those by st.async.
//
// Rows may be brought to a mean of 0 and a deviation of 1 before they are multiplied (kNormalizes): sums are then made
// of the rows as they are, and corrected on their way out (normalized_weights.hpp). The threads that bring rows look at
// what they have brought while it is multiplied, and leave each row's correction in shared memory.
//
// Measured on an H200 in float16 at batch 1, each shape in a captured chain of itself, its weights from 24 places in
// turn, best tiles of both kernels, this one's time first and that of convolution.cuh behind it, in us. 197 rows:
// 768x2304 3.3 and 7.2, 768x768 2.4 and 3.2, 768x3072 with GELU 4.8 and 8.2, 3072x768 5.2 and 10.4. 785 rows: 384x1152
// 3.0 and 4.8, 384x384 2.0 and 2.9, 384x1536 with GELU 4.3 and 7.2, 1536x384 4.1 and 7.9. Convolutions of one tap:
// 6400x192x64 2.1 and 2.5, 1600x384x128 2.0 and 2.4, 400x512x256 1.9 and 2.1, 196x1024x256 2.0 and 2.3. Input that came
// by tensor maps instead made between 4 % and -15 % of difference, none where tiles are best.

/// What follows from a layer's constants, for the host counts the same.
template <class L>
struct WarpgroupTiling {
  static constexpr int kConsumers = 128 * L::kWarpgroups;
  static constexpr int kThreads = kConsumers + 128;
  static constexpr int kCopiers = 96;  // threads that bring input
  static constexpr int kTileFilters = 64 * L::kTiles * L::kWarpgroups;
  static constexpr int kWeightBytes = kTileFilters * L::kDepth * 128;
  static constexpr int kBlockBytes = L::kTileRows * 128;  // 64 channels of the input's rows
  static constexpr int kStageBytes = kWeightBytes + kBlockBytes * L::kDepth;
  static constexpr int kSteps = ceil_div(L::kChannels, 64 * L::kDepth);
  static constexpr int kBlockSteps = ceil_div(kSteps, L::kSplit);
  static constexpr int kStages = min_of(kBlockSteps, L::kStages);

  // Sums: kColumns instructions' columns of 8 rows, of which a block finishes kOwned.
  static constexpr int kColumns = L::kTileRows / 8;
  static constexpr int kOwned = ceil_div(kColumns, L::kSplit);
  static constexpr int kLane = 2 * L::kTiles;  // filters of a lane, side by side
  static constexpr bool kVectors = L::kFilters % kLane == 0 && L::kOutPitch % kLane == 0;
  static constexpr int kReceivedAt = kStages * kStageBytes;
  static constexpr int kPartBytes = L::kTiles * kConsumers * 16;  // of one column
  static constexpr int kBarriersAt = kReceivedAt + (L::kSplit - 1) * kOwned * kPartBytes;
  static constexpr int kBarriers = 2 * kStages + 1 + L::kNormalizes;
  static constexpr int kCorrectionsAt = kBarriersAt + 8 * kBarriers;  // of rows, where they are normalised
  static constexpr int kSharedBytes = kCorrectionsAt + (L::kNormalizes ? 8 * L::kTileRows : 0);

  static_assert(L::kTileRows % 8 == 0, "an instruction has multiples of 8 columns");
  static constexpr bool kWindows = L::kWindowPitch > 0;
  static_assert(L::kLineChannels % 8 == 0 && L::kInPitch % 8 == 0 && L::kLinePitch % 8 == 0 && L::kWindowPitch % 8 == 0,
                "rows are copied in 16 bytes");
  static_assert(!L::kNormalizes || (L::kSplit == 1 && !kWindows), "a block sees whole rows");

  // Rows in turn among the threads that bring them, 8 of which bring 64 channels of a row.
  static constexpr int kPassRows = kCopiers / 8;
  static constexpr int kPasses = ceil_div(L::kTileRows, kPassRows);
};

/// What a normalised row's sums are multiplied by, and the sums of weights before they are added.
struct alignas(8) Correction {
  float factor, offset;
};

/// A block's barriers and its share of the sum.
template <class L>
struct WarpgroupRing {
  using S = WarpgroupTiling<L>;
  unsigned char* shared;
  int first_step;
  int steps;

  __device__ __forceinline__ uint64* full(int stage) const {
    return reinterpret_cast<uint64*>(shared + S::kBarriersAt) + stage;
  }
  __device__ __forceinline__ uint64* free(int stage) const { return full(S::kStages + stage); }
  __device__ __forceinline__ uint64* received() const { return full(2 * S::kStages); }
  /// Tells that corrections are there.
  __device__ __forceinline__ uint64* corrected() const { return full(2 * S::kStages + 1); }
  __device__ __forceinline__ Correction* corrections() const {
    return reinterpret_cast<Correction*>(shared + S::kCorrectionsAt);
  }
  __device__ __forceinline__ unsigned char* weights(int stage) const { return shared + stage * S::kStageBytes; }
  __device__ __forceinline__ unsigned char* input(int stage) const { return weights(stage) + S::kWeightBytes; }

  __device__ __forceinline__ void prepare(int received_bytes) const {
    for (int stage = 0; stage < S::kStages; ++stage) {
      mbarrier_init(full(stage), 1 + S::kCopiers);
      mbarrier_init(free(stage), S::kConsumers / 32);
    }
    mbarrier_init(received());
    if constexpr (L::kNormalizes) mbarrier_init(corrected(), S::kCopiers);
    fence_mbarrier_init();
    if (received_bytes > 0) mbarrier_arrive_expect_tx(received(), received_bytes);
  }
  /// Waits until STEP's stage is free.
  __device__ __forceinline__ void claim(int step) const {
    if (step >= S::kStages) mbarrier_wait(free(step % S::kStages), (step / S::kStages + 1) % 2);
  }
};

/// What the warp does that brings weights: FROM is this tile's first step.
template <class L>
__device__ __forceinline__ void bring_weights(const WarpgroupRing<L>& ring, const unsigned char* from) {
  using S = WarpgroupTiling<L>;
  const bool brings = threadIdx.x % 32 == 0;
  const auto copy = [&](int step) {
    const int stage = step % S::kStages;
    mbarrier_arrive_expect_tx(ring.full(stage), S::kWeightBytes);
    cp_async_bulk(ring.weights(stage), from + static_cast<int64>(step) * S::kWeightBytes, S::kWeightBytes,
              ring.full(stage));
  };
  const int ahead = min_of(ring.steps, S::kStages);
  if (brings) {
    for (int step = 0; step < ahead; ++step) copy(step);
    // Blocks of other rows read the same weights.
    if (S::kBlockSteps > S::kStages && blockIdx.x == 0 && ring.steps > ahead)
      prefetch_bulk_l2(from + static_cast<int64>(ahead) * S::kWeightBytes, (ring.steps - ahead) * S::kWeightBytes);
  }
  pdl_wait_and_trigger();
  if (brings)
    for (int step = ahead; step < ring.steps; ++step) {
      ring.claim(step);
      copy(step);
    }
}

/// A thread's share of its rows' moments: of the elements that it brought. Distances are from a row's first element, so
/// that rows far from 0 lose nothing: if that element is far from the others the deviation is large, too.
template <class L>
struct RowMoments {
  using S = WarpgroupTiling<L>;
  float first[S::kPasses];
  float sum[S::kPasses] = {};
  float squares[S::kPasses] = {};

  __device__ __forceinline__ void add(const WarpgroupRing<L>& ring, int step, int row, int chunk) {
    using T = typename L::Element;
    mbarrier_wait(ring.full(step % S::kStages), step / S::kStages % 2);
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
          eight = load_packed<8>(reinterpret_cast<const T*>(ring.input(step % S::kStages) + d * S::kBlockBytes +
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
  /// Joins the shares of the 8 threads that brought the same rows. FACTOR is the weights'.
  __device__ __forceinline__ void leave(const WarpgroupRing<L>& ring, int row, int chunk, float factor) const {
    constexpr float kShare = 1.0f / L::kChannels;
#pragma unroll
    for (int pass = 0; pass < S::kPasses; pass += 8) {
      // A row for each of the 8.
      const float mean = sum_of_eight(sum, pass, chunk) * kShare;
      const float rounded = sum_of_eight(squares, pass, chunk) * kShare - mean * mean;
      const float variance = rounded < 0 ? 0 : rounded;  // keeps NaN
      float from = 0;
#pragma unroll
      for (int i = pass; i < min_of(pass + 8, S::kPasses); ++i)
        if (i - pass == chunk) from = first[i];
      const float deviations = factor * rsqrtf(variance + L::kEpsilon);
      const int at = row + (pass + chunk) * S::kPassRows;
      if (at < L::kTileRows) ring.corrections()[at] = {deviations, -(from + mean) * deviations};
    }
    mbarrier_arrive(ring.corrected());
  }
  /// Of eight passes from FIRST_PASS on the one of number CHUNK, summed over the 8 threads: half of the passes go to
  /// the thread that lies so far away, as often as there are two.
  static __device__ __forceinline__ float sum_of_eight(const float (&shares)[S::kPasses], int first_pass, int chunk) {
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

/// What the three warps do that bring rows of INPUT, from FIRST_ROW on. FACTOR is that of the weights of normalised
/// rows.
template <class L>
__device__ __forceinline__ void bring_input(const WarpgroupRing<L>& ring, const typename L::Element* input,
                                            int first_row, float factor) {
  using S = WarpgroupTiling<L>;
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
  const auto bring = [&](int step) {
    ring.claim(step);
    const int stage = step % S::kStages;
#pragma unroll
    for (int d = 0; d < L::kDepth; ++d) {
      const int channel = ((ring.first_step + step) * L::kDepth + d) * 64 + chunk * 8;
      const bool inside = L::kChannels % (64 * L::kDepth) == 0 || channel < L::kChannels;
      const typename L::Element* line =
          input + (S::kWindows ? 0 : from[0]) + channel / L::kLineChannels * L::kLinePitch + channel % L::kLineChannels;
#pragma unroll
      for (int pass = 0; pass < kPasses; ++pass) {
        const int at = row + pass * kPassRows;
        if (L::kTileRows % kPassRows != 0 && pass == kPasses - 1 && at >= L::kTileRows) break;
        const bool valid = inside && (L::kRows % L::kTileRows == 0 || first_row + at < L::kRows);
        cp_async_16(ring.input(stage) + d * S::kBlockBytes + at * 128 + (chunk ^ at % 8) * 16,
                      valid ? line + (S::kWindows ? from[pass] : pass * kPassRows * L::kInPitch) : input, valid);
      }
    }
    cp_async_mbarrier_arrive(ring.full(stage));
  };
  pdl_wait_and_trigger();
  if constexpr (L::kNormalizes) {
    RowMoments<L> moments;
    for (int step = 0; step < ring.steps + S::kStages; ++step) {
      // A stage is looked at before it is filled again: the first of them are on their way by then.
      if (step >= S::kStages) moments.add(ring, step - S::kStages, row, chunk);
      if (step < ring.steps) bring(step);
    }
    moments.leave(ring, row, chunk, factor);
  } else {
    for (int step = 0; step < ring.steps; ++step) bring(step);
  }
}

/// The sums of a warpgroup over its part of the products.
template <class L>
__device__ __forceinline__ void multiply(float (&sums)[L::kTiles][L::kTileRows / 2], const WarpgroupRing<L>& ring,
                                         int warpgroup) {
  using S = WarpgroupTiling<L>;
  // A loop of one step is none to the compiler, which would clear sums between products, so that these take turns.
#pragma unroll
  for (int tile = 0; tile < L::kTiles; ++tile) fence_operand(sums[tile]);
#pragma unroll 1
  for (int step = 0; step < ring.steps; ++step) {
    const int stage = step % S::kStages;
    mbarrier_wait(ring.full(stage), step / S::kStages % 2);
    fence_proxy_async();
    const SmemDescriptor weights = k_major_descriptor(ring.weights(stage) + warpgroup * L::kTiles * L::kDepth * 8192);
    const SmemDescriptor input = k_major_descriptor(ring.input(stage));
    wgmma_fence();
#pragma unroll
    for (int d = 0; d < L::kDepth; ++d)
#pragma unroll
      for (int unit = 0; unit < 4; ++unit)
#pragma unroll
        for (int tile = 0; tile < L::kTiles; ++tile)
          wgmma_ss<typename L::Element, L::kTileRows>(
              sums[tile], advance_descriptor(weights, (tile * L::kDepth + d) * 8192 + unit * 32),
              advance_descriptor(input, d * S::kBlockBytes + unit * 32));
    wgmma_commit();
    wgmma_wait<1>();
    if (step > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(ring.free((step - 1) % S::kStages));
  }
  wgmma_wait<0>();
#pragma unroll
  for (int tile = 0; tile < L::kTiles; ++tile) fence_operand(sums[tile]);
}

/// Adds up what the blocks of a cluster have: afterwards this block's columns are whole.
template <class L>
__device__ __forceinline__ void join_sums(float (&sums)[L::kTiles][L::kTileRows / 2], const WarpgroupRing<L>& ring,
                                          int rank) {
  using S = WarpgroupTiling<L>;
  float4* parts = reinterpret_cast<float4*>(ring.shared + S::kReceivedAt);
  const auto part = [&](int source, int column, int tile) {
    return parts + ((source * S::kOwned + column % S::kOwned) * L::kTiles + tile) * S::kConsumers + threadIdx.x;
  };
#pragma unroll
  for (int column = 0; column < S::kColumns; ++column) {
    const int owner = column / S::kOwned;
    if (owner == rank) continue;
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      const float* four = sums[tile] + 4 * column;
      st_async_dsmem(owner, part(rank < owner ? rank : rank - 1, column, tile),
                    make_float4(four[0], four[1], four[2], four[3]), ring.received());
    }
  }
  if (rank * S::kOwned < S::kColumns) mbarrier_wait(ring.received(), 0);
#pragma unroll
  for (int column = 0; column < S::kColumns; ++column) {
    if (column / S::kOwned != rank) continue;
#pragma unroll
    for (int source = 0; source < L::kSplit - 1; ++source)
#pragma unroll
      for (int tile = 0; tile < L::kTiles; ++tile) {
        const float4 more = *part(source, column, tile);
        float* four = sums[tile] + 4 * column;
        four[0] += more.x, four[1] += more.y, four[2] += more.z, four[3] += more.w;
      }
  }
}

/// Where a lane's sums go.
template <class L, class PostOps>
struct WarpgroupTargets {
  using S = WarpgroupTiling<L>;
  using T = typename L::Element;
  static constexpr int kLane = S::kLane;
  using Operands = typename PostOps::template Operands<kLane>;
  /// Few operands are fetched before the sum, many behind it, where registers are free.
  static constexpr bool kEarly =
      S::kVectors && 2 * S::kOwned * static_cast<int>(sizeof(Operands)) + L::kTiles * L::kTileRows * 2 <= 320;

  int first_row;  // of column 0
  int filter;
  Packed<float, kLane> bias;
  Packed<float, kLane> weight_sums;  // of normalised rows
  const Correction* corrections;     // from column 0 on
  Operands operands[kEarly ? 2 * S::kOwned : 1];

  __device__ __forceinline__ bool inside(int column, int e) const {
    return first_row + 8 * column + e < L::kRows && filter < L::kFilters;
  }
  __device__ __forceinline__ int offset(int column, int e) const {
    return (first_row + 8 * column + e) * L::kOutPitch + filter;
  }
  __device__ __forceinline__ void fetch(const PostOps& post_ops, int rank) {
    if constexpr (kEarly) {
#pragma unroll
      for (int t = 0; t < S::kOwned; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          if (rank * S::kOwned + t < S::kColumns && inside(rank * S::kOwned + t, e))
            operands[2 * t + e] = post_ops.template load<kLane>(offset(rank * S::kOwned + t, e));
    }
  }
  /// Finishes the columns from FIRST on that one block owns: some at a time, stored or not, so that their elements'
  /// instructions mingle.
  __device__ __forceinline__ void store(T* __restrict__ output, const float (&sums)[L::kTiles][L::kTileRows / 2],
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
        for (int i = 0; i < kLane; ++i) x[at][i] = finished(sums[i / 2][4 * column + i % 2 * 2 + e], column, e, i);
        if constexpr (S::kVectors) post_ops.apply(x[at], kEarly ? operands[kEarly ? item : 0] : late[kEarly ? 0 : at]);
      });
      each([&](int at, int, int column, int e) {
        if (inside(column, e)) put(output + offset(column, e), x[at], offset(column, e), post_ops);
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

  __device__ __forceinline__ void put(T* __restrict__ to, const float (&x)[kLane], int at,
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

/// The whole kernel. WEIGHTS are blocks of WarpgroupTiling::kWeightBytes by tile of filters and step; BIASES one float
/// a filter, padded to whole tiles; where rows are normalised the sums of weights follow, and their factor. Grid: tiles
/// of rows, tiles of filters, kSplit blocks of a cluster.
template <class L, class PostOps>
__device__ __forceinline__ void multiply_rows(const typename L::Element* __restrict__ input,
                                              const unsigned char* __restrict__ weights,
                                              const float* __restrict__ biases,
                                              typename L::Element* __restrict__ output, const PostOps& post_ops) {
  using S = WarpgroupTiling<L>;
  static_assert(S::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(1024) unsigned char shared[];
  const int warp = threadIdx.x / 32;
  const int rank = L::kSplit > 1 ? blockIdx.z : 0;
  const int first_step = rank * S::kBlockSteps;
  const int steps = L::kSplit > 1 ? max_of(min_of(S::kSteps - first_step, S::kBlockSteps), 0) : S::kSteps;
  const WarpgroupRing<L> ring{shared, first_step, steps};
  const int first_row = blockIdx.x * L::kTileRows;
  constexpr int kWeightWarp = S::kConsumers / 32;

  if (threadIdx.x == S::kConsumers) {
    const int owned = max_of(min_of(S::kColumns - rank * S::kOwned, S::kOwned), 0);
    ring.prepare(owned * (L::kSplit - 1) * S::kPartBytes);
  }
  __syncthreads();
  if constexpr (L::kSplit > 1) cluster_arrive();

  if (warp == kWeightWarp) {
    bring_weights<L>(ring, weights + (static_cast<int64>(blockIdx.y) * S::kSteps + first_step) * S::kWeightBytes);
    __syncwarp();
    if constexpr (L::kSplit > 1) cluster_wait();
  } else if (warp > kWeightWarp) {
    constexpr int kFactorAt = 2 * ceil_div(L::kFilters, S::kTileFilters) * S::kTileFilters;
    bring_input<L>(ring, input, first_row, L::kNormalizes ? biases[kFactorAt] : 1.0f);
    if constexpr (L::kSplit > 1) cluster_wait();
  } else {
    const int lane = threadIdx.x % 32;
    const int warpgroup = warp / 4;
    WarpgroupTargets<L, PostOps> targets;
    targets.first_row = first_row + lane % 4 * 2;
    targets.filter = blockIdx.y * S::kTileFilters + warpgroup * 64 * L::kTiles + (warp % 4 * 8 + lane / 4) * S::kLane;
    targets.bias = load_packed<S::kLane>(biases + targets.filter);
    if constexpr (L::kNormalizes) {
      targets.weight_sums =
          load_packed<S::kLane>(biases + ceil_div(L::kFilters, S::kTileFilters) * S::kTileFilters + targets.filter);
      targets.corrections = ring.corrections() + lane % 4 * 2;
    }
    float sums[L::kTiles][L::kTileRows / 2] = {};
    pdl_wait_and_trigger();
    targets.fetch(post_ops, rank);
    multiply<L>(sums, ring, warpgroup);
    if constexpr (L::kNormalizes) mbarrier_wait(ring.corrected(), 0);
    if constexpr (L::kSplit > 1) {
      cluster_wait();
      join_sums<L>(sums, ring, rank);
    }
#pragma unroll
    for (int owner = 0; owner < L::kSplit; ++owner)
      if (L::kSplit == 1 || owner == rank) targets.store(output, sums, owner * S::kOwned, post_ops);
  }
}
