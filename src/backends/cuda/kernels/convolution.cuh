#pragma once

#include "convolution_epilogue.cuh"
#include "convolution_load.cuh"
#include "convolution_mma.cuh"

// Convolution as an implicit GEMM: M = output pixels, N = filters, K = taps x channels. The host writes a struct Layer
// of constants (convolution_plan.cpp) and instantiates convolve<Layer>.
//
// At batch 1 a layer is a few MFLOP and takes two or three microseconds. Launch latency, the first loads into shared
// memory and the final reduction cost more than the arithmetic. Therefore:
//  - Everything that depends on no activation happens before pdl_wait_and_trigger(). Weights are on their way to shared
//    memory by cp.async.bulk, pre-packed by the host in fragment order, so that fragment loads are free of bank
//    conflicts. Offsets and the bias are in registers.
//  - Inputs are loaded once per tile (kHaloTile): a block covers kTileHeight x kTileWidth pixels, keeps their input
//    tile with its halo in shared memory, and taps are offsets into it. Where dilation makes the halo too large, the
//    block gathers its pixels once per tap (kTapGather), as an implicit-GEMM gather. A 1x1 kernel is a gather of one
//    tap.
//  - K is split over kWarpsK warps (sliced K) and over kSplit blocks of a cluster (split-K), since layers with few
//    pixels have too few tiles for 132 SMs. Partial accumulators are exchanged through shared memory and st.async to
//    distributed shared memory. They are added in a fixed order, so results are bit-reproducible.
//  - The epilogue stores vectors of 8 filters straight from registers (tile.cuh).
//
// A k-step covers kStep channels (of all taps, or of one tap for kTapGather). The pipeline has kStages stages. If a
// block has no more steps than stages, all loads are issued up front and no stage is ever reused.
//
// Measured on an H200 in float16 at batch 1 with post-ops, each layer in a captured chain of itself, its weights
// rotating over up to 12 copies, the full carve-out as shared memory: the 53 convolutions and the final GEMM of
// ResNet-50 take 128 us in total with the best tile of each shape, and 132 us with the tile that the cost model of
// convolution_plan.cpp ranks first. The 61 layers of YOLOv8n at 640 x 640 take 138 and 142 us. The smallest layer takes
// 1.1 us, mostly launch latency. Large GEMMs go to warpgroup_gemm.cuh where wgmma is available.
//
// Half precision uses tensor cores. So does float32 that may be rounded to tf32 (kTf32): its fragments have the same
// size and half the K. Other float32 uses FFMA with the same accumulator layout. 8-bit integers use tensor cores with
// exact int32 accumulators; two adjacent channels count as one element. Layers of up to 4 channels (kFewChannels, a
// network's first layer) are padded to 4 channels per pixel in shared memory, and the 16 K values of a fragment are 4
// adjacent taps.

/// The kernel. INPUT and OUTPUT are NHWC (OUTPUT is kScaledHeight x kScaledWidth where there are phases). WEIGHTS are
/// blocks of ConvolutionTraits::kWeightBytes by group, filter tile and k-step. BIASES has one ConvolutionTraits::Bias
/// per filter, padded to whole tiles per group. Grid: pixel tiles, filter tiles of all groups, kSplit blocks of a
/// cluster.
template <class L, class PostOps>
__device__ __forceinline__ void convolve(const typename L::Element* __restrict__ input,
                                         const unsigned char* __restrict__ weights,
                                         const typename ConvolutionTraits<L>::Bias* __restrict__ biases,
                                         typename L::Output* __restrict__ output, const PostOps& post_ops) {
  using S = ConvolutionTraits<L>;
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* barriers = reinterpret_cast<uint64*>(shared + S::kBarrierAt);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int rank = L::kSplit > 1 ? blockIdx.z : 0;
  const int first_step = rank * S::kBlockSteps;
  const int steps = L::kSplit > 1 ? max_of(min_of(S::kSteps - first_step, S::kBlockSteps), 0) : S::kSteps;
  const unsigned char* block_weights =
      weights + (static_cast<int64>(blockIdx.y) * S::kSteps + first_step) * S::kWeightBytes;
  const auto input_of = [&](int stage) { return shared + stage * (S::kInputBytes + S::kWeightBytes); };
  const auto weights_of = [&](int stage) { return input_of(stage) + S::kInputBytes; };
  const auto load_b = [&](int step) {
    const int stage = step % S::kStages;
    if constexpr (kHasBulkCopies) {
      if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(barriers + stage, S::kWeightBytes);
        cp_async_bulk(weights_of(stage), block_weights + static_cast<int64>(step) * S::kWeightBytes, S::kWeightBytes,
                      barriers + stage);
      }
    } else {
      for (int at = threadIdx.x * 16; at < S::kWeightBytes; at += S::kThreads * 16)
        cp_async_16(weights_of(stage) + at, block_weights + static_cast<int64>(step) * S::kWeightBytes + at, true);
    }
  };

  if constexpr (kHasBulkCopies) {
    if (threadIdx.x == 0) {
      for (int i = 0; i <= S::kStages; ++i) mbarrier_init(barriers + i);
      fence_mbarrier_init();
      if constexpr (L::kSplit > 1)
        if (rank < S::kItems)
          mbarrier_arrive_expect_tx(barriers + S::kStages,
                                    ceil_div(S::kItems - rank, L::kSplit) * L::kSplit * S::kItemVectors * 512);
    }
  }
  for (int step = 0; step < min_of(S::kPrefetchStages, steps); ++step) load_b(step);
  if constexpr (L::kSplit > 1) {
    __syncwarp();
    cluster_arrive();
  }

  // Tile coordinates.
  constexpr int kFilterTiles = ceil_div(L::kFilters, L::kTileFilters);
  const int group = L::kGroups > 1 ? blockIdx.y / kFilterTiles : 0;
  const int filter_tile = L::kGroups > 1 ? blockIdx.y % kFilterTiles : blockIdx.y;
  const int tile = blockIdx.x;
  const int image = tile / (S::kTilesX * S::kTilesY);
  const int y = tile / S::kTilesX % S::kTilesY * L::kTileHeight;
  const int x = tile % S::kTilesX * L::kTileWidth;
  const int first_pixel = tile * S::kTilePixels;

  InputLoader<L> loader;
  loader.init(image, y, x, first_pixel, group);
  WarpMma<L> mma;
  mma.init(warp % L::kWarpsM, warp % S::kPositions / L::kWarpsM, warp / S::kPositions, lane);
  Epilogue<L> epilogue;
  epilogue.init(biases, image, y, x, first_pixel, filter_tile, group, rank);
  typename S::Accumulator acc[S::kM][S::kN][4] = {};
  if constexpr (kHasBulkCopies) __syncthreads();  // mbarriers are initialised

  pdl_wait_and_trigger();

  const auto load_a = [&](int step) {
    if constexpr (S::kFew) {
      loader.load_few(input_of(0), input);
    } else {
      loader.load(input_of(step % S::kStages), input, first_step + step);
    }
  };
  for (int step = 0; step < S::kPrefetchStages; ++step) {
    if (step < steps) load_a(step);
    cp_async_commit();
  }
  // Prefetch few epilogue operands now; load many only when the main loop has freed its registers.
  constexpr bool kEarly = S::kVectorStores && S::kEpilogueItems <= 4 &&
                          S::kEpilogueItems * S::Warp::kLane * sizeof(typename L::Output) <= 64;
  typename PostOps::template Operands<S::Warp::kLane> operands[S::kEpilogueItems];
  if constexpr (kEarly) {
#pragma unroll
    for (int t = 0; t < S::kEpilogueItems; ++t)
      if (epilogue.offset[t] >= 0) operands[t] = post_ops.template load<S::Warp::kLane>(epilogue.offset[t]);
  }

#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int stage = step % S::kStages;
    if constexpr (S::kAllInFlight) {
      cp_async_wait_dynamic<S::kPrefetchStages - 1>(S::kPrefetchStages - 1 - step);
    } else {
      cp_async_wait<S::kPrefetchStages - 1>();
    }
    if constexpr (kHasBulkCopies) mbarrier_wait(barriers + stage, step / S::kStages % 2);
    __syncthreads();
    if constexpr (!S::kAllInFlight) {
      // The stage consumed last is free for reuse.
      if (step + S::kPrefetchStages < steps) {
        load_b(step + S::kPrefetchStages);
        load_a(step + S::kPrefetchStages);
      }
      cp_async_commit();
    }
    mma.run(acc, input_of(stage), weights_of(stage));
  }

  if constexpr (S::kDirect) {
#pragma unroll
    for (int t = 0; t < S::kEpilogueItems; ++t) {
      typename S::Accumulator values[S::Warp::kLane];
      S::Warp::extract(values, acc, t);
      epilogue.store(output, values, t, post_ops, kEarly ? operands + t : nullptr);
    }
  } else {
    reduce_split_k<L>(acc, shared, barriers + S::kStages, rank, epilogue, output, post_ops,
                      kEarly ? operands : nullptr);
  }
}
