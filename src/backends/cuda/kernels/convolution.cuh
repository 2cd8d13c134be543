#pragma once

#include "convolution_input.cuh"
#include "convolution_output.cuh"
#include "convolution_product.cuh"

// Convolution as an implicit matrix product: pixels are rows, filters are columns, the sum runs over taps and channels.
// The host writes a struct Layer of constants (convolution_plan.cpp) and instantiates convolve<Layer>.
//
// What bounds it. At batch 1 a layer is a few MFLOP and takes two or three microseconds: the hand-over from the kernel
// before, the way of the first data into shared memory, and the end of the sum count more than arithmetic. So
//  - all that depends on no activation happens before pdl_wait_and_trigger(): weights are on their way into shared memory (bulk
//    copies of blocks that the host packed in the order of their use, in fragment order, so that they are read without
//    bank conflicts), offsets and the bias are in registers;
//  - a tile's inputs are copied once: a block covers kTileHeight x kTileWidth pixels, their patch of the input lies in
//    shared memory, and the taps are offsets into it (kPatch). One more copy a tap (kGather) is for patches that are
//    larger than that: long dilations. A 1x1 kernel is a gather of one tap;
//  - the sum is split over kWarpsK warps and over kSplit blocks of a cluster, for layers with few pixels have too few
//    tiles for 132 multiprocessors. Partial sums meet in shared memory, those of a cluster in its owner's, by
//    st.async, and are added in a fixed order, so that answers repeat to the bit;
//  - sums leave straight from registers in vectors of 8 filters (tile.cuh).
//
// A step of the sum is kStep channels (of all taps, or of one where it gathers); kStages steps are on their way at
// once. Where a block has no more steps than stages, nothing is ever waited for but the data itself.
//
// Measured on an H200 in float16 at batch 1, with post-ops, each layer in a captured chain of itself, its weights from
// up to 12 places in turn, all of the carve-out shared memory: the 53 convolutions and the last product of ResNet-50
// take 128 us in sum with each shape's best tile, 132 with the one that the model of convolution_plan.cpp puts first;
// the 61 layers of YOLOv8n's shapes at 640 x 640 138 and 142 us. The smallest layer takes 1.1 us, which is mostly the
// hand-over. Large products are for warpgroup_product.cuh, where the device has its instructions.
//
// Half-precision inputs are multiplied by tensor cores, float32 likewise where it may be rounded to tf32 (kTf32: whose
// fragments take as many bytes, half as many products), else by FFMA in the same frame, with the same sums per lane.
// Bytes are multiplied by tensor cores and summed as integers, exactly; two neighbouring channels count as one element.
// Layers of up to 4 channels (kFewChannels: a network's first) keep 4 channels a pixel in shared memory, and a
// fragment's 16 products are 4 neighbouring taps of them.

/// The whole kernel. INPUT and OUTPUT are NHWC (the output kScaledHeight x kScaledWidth where there are phases);
/// WEIGHTS are blocks of Tiling::kWeightBytes by group, tile of filters and step; BIASES one Tiling::Bias a filter,
/// padded to whole tiles a group. Grid: tiles of pixels, tiles of filters of all groups, kSplit blocks of a cluster.
template <class L, class PostOps>
__device__ __forceinline__ void convolve(const typename L::Element* __restrict__ input,
                                         const unsigned char* __restrict__ weights,
                                         const typename Tiling<L>::Bias* __restrict__ biases,
                                         typename L::Output* __restrict__ output, const PostOps& post_ops) {
  using S = Tiling<L>;
  static_assert(S::kSharedBytes == L::kSharedBytes, "the host counts otherwise");
  extern __shared__ __align__(128) unsigned char shared[];
  uint64* barriers = reinterpret_cast<uint64*>(shared + S::kBarrierAt);
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int rank = L::kSplit > 1 ? blockIdx.z : 0;
  const int first_step = rank * S::kBlockSteps;
  const int steps = L::kSplit > 1 ? max_of(min_of(S::kSteps - first_step, S::kBlockSteps), 0) : S::kSteps;
  const unsigned char* my_weights =
      weights + (static_cast<int64>(blockIdx.y) * S::kSteps + first_step) * S::kWeightBytes;
  const auto input_of = [&](int stage) { return shared + stage * (S::kInputBytes + S::kWeightBytes); };
  const auto weights_of = [&](int stage) { return input_of(stage) + S::kInputBytes; };
  const auto copy_weights = [&](int step) {
    const int stage = step % S::kStages;
    if constexpr (kHasBulkCopies) {
      if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(barriers + stage, S::kWeightBytes);
        cp_async_bulk(weights_of(stage), my_weights + static_cast<int64>(step) * S::kWeightBytes, S::kWeightBytes,
                  barriers + stage);
      }
    } else {
      for (int at = threadIdx.x * 16; at < S::kWeightBytes; at += S::kThreads * 16)
        cp_async_16(weights_of(stage) + at, my_weights + static_cast<int64>(step) * S::kWeightBytes + at, true);
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
  for (int step = 0; step < min_of(S::kAhead, steps); ++step) copy_weights(step);
  if constexpr (L::kSplit > 1) {
    __syncwarp();
    cluster_arrive();
  }

  // The tile.
  constexpr int kFilterTiles = ceil_div(L::kFilters, L::kTileFilters);
  const int group = L::kGroups > 1 ? blockIdx.y / kFilterTiles : 0;
  const int filter_tile = L::kGroups > 1 ? blockIdx.y % kFilterTiles : blockIdx.y;
  const int tile = blockIdx.x;
  const int image = tile / (S::kTilesX * S::kTilesY);
  const int y = tile / S::kTilesX % S::kTilesY * L::kTileHeight;
  const int x = tile % S::kTilesX * L::kTileWidth;
  const int first_pixel = tile * S::kTilePixels;

  InputCopies<L> copies;
  copies.aim(image, y, x, first_pixel, group);
  Multiplier<L> multiplier;
  multiplier.aim(warp % L::kWarpsM, warp % S::kPositions / L::kWarpsM, warp / S::kPositions, lane);
  OutputTargets<L> targets;
  targets.aim(biases, image, y, x, first_pixel, filter_tile, group, rank);
  typename S::Sum sums[S::kM][S::kN][4] = {};
  if constexpr (kHasBulkCopies) __syncthreads();  // the barriers are ready

  pdl_wait_and_trigger();

  const auto copy_inputs = [&](int step) {
    if constexpr (S::kFew) {
      copies.copy_few(input_of(0), input);
    } else {
      copies.copy(input_of(step % S::kStages), input, first_step + step);
    }
  };
  for (int step = 0; step < S::kAhead; ++step) {
    if (step < steps) copy_inputs(step);
    cp_async_commit();
  }
  // Few operands are fetched now, many once the registers of the loop are free.
  constexpr bool kEarly =
      S::kVectorStores && S::kTargets <= 4 && S::kTargets * S::Warp::kLane * sizeof(typename L::Output) <= 64;
  typename PostOps::template Operands<S::Warp::kLane> operands[S::kTargets];
  if constexpr (kEarly) {
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t)
      if (targets.offset[t] >= 0) operands[t] = post_ops.template load<S::Warp::kLane>(targets.offset[t]);
  }

#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const int stage = step % S::kStages;
    if constexpr (S::kAllAtOnce) {
      cp_async_wait_dynamic<S::kAhead - 1>(S::kAhead - 1 - step);
    } else {
      cp_async_wait<S::kAhead - 1>();
    }
    if constexpr (kHasBulkCopies) mbarrier_wait(barriers + stage, step / S::kStages % 2);
    __syncthreads();
    if constexpr (!S::kAllAtOnce) {
      // The stage that was multiplied last is free.
      if (step + S::kAhead < steps) {
        copy_weights(step + S::kAhead);
        copy_inputs(step + S::kAhead);
      }
      cp_async_commit();
    }
    multiplier.run(sums, input_of(stage), weights_of(stage));
  }

  if constexpr (S::kDirect) {
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t) {
      typename S::Sum values[S::Warp::kLane];
      S::Warp::take(values, sums, t);
      targets.store(output, values, t, post_ops, kEarly ? operands + t : nullptr);
    }
  } else {
    reduce_and_store<L>(sums, shared, barriers + S::kStages, rank, targets, output, post_ops,
                        kEarly ? operands : nullptr);
  }
}
