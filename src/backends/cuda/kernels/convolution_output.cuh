#pragma once

#include "convolution_tiling.cuh"

// How convolution.cuh joins partial sums and stores them.

/// Where a warp's items go.
template <class L>
struct OutputTargets {
  using S = Tiling<L>;
  using Sum = typename S::Sum;
  using Bias = typename S::Bias;
  using Output = typename L::Output;
  using Warp = typename S::Warp;
  static constexpr int kLane = Warp::kLane;

  int offset[S::kTargets];  // in elements; -1: nowhere
  int filters[S::kVectorStores ? 1 : S::kTargets];
  Packed<Bias, kLane> bias[S::kDirect ? Warp::kGroups : S::kTargets];

  __device__ __forceinline__ void aim(const Bias* __restrict__ biases, int image, int y, int x, int first_pixel,
                                      int filter_tile, int group, int rank) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int t = 0; t < S::kTargets; ++t) {
      const int id = item(t, warp, rank);
      const int position = id / Warp::kItems;
      const int row = position % L::kWarpsM * S::kM * 16 + Warp::row(id % Warp::kItems, lane);
      const int filter =
          filter_tile * L::kTileFilters + position / L::kWarpsM * S::kN * 8 + Warp::column(id % Warp::kItems, lane);
      bool valid = row < S::kTilePixels && (S::kDirect || id < S::kItems) && filter < L::kFilters;
      const int pixel = first_pixel + row;
      const int line = pixel / L::kOutWidth;
      const int out_y = S::kWhole ? y + row / L::kTileWidth : line % L::kOutHeight;
      const int out_x = S::kWhole ? x + row % L::kTileWidth : pixel % L::kOutWidth;
      const int of = S::kWhole ? image : line / L::kOutHeight;
      valid = valid && (S::kWhole ? out_y < L::kOutHeight && out_x < L::kOutWidth : pixel < S::kPixels);
      if constexpr (S::kPhases > 1) {
        const int phase = filter / S::kPhaseFilters;
        const int scaled_y = out_y * L::kScaleY + phase / L::kScaleX;
        const int scaled_x = out_x * L::kScaleX + phase % L::kScaleX;
        valid = valid && scaled_y < L::kScaledHeight && scaled_x < L::kScaledWidth;
        const int place = (of * L::kScaledHeight + scaled_y) * L::kScaledWidth + scaled_x;
        offset[t] = valid ? place * L::kOutPitch + filter % S::kPhaseFilters : -1;
      } else {
        const int place = S::kWhole ? (of * L::kOutHeight + out_y) * L::kOutWidth + out_x : pixel;
        offset[t] = valid ? place * L::kOutPitch + group * L::kFilters + filter : -1;
      }
      if constexpr (!S::kVectorStores) filters[t] = min_of(L::kFilters - filter, kLane);
      // The host pads the bias to whole tiles.
      const int tile = group * ceil_div(L::kFilters, L::kTileFilters) * L::kTileFilters;
      if (!S::kDirect) {
        bias[t] = load_packed<kLane>(biases + tile + (id < S::kItems ? filter : 0));
      } else if (t < Warp::kGroups) {
        bias[t] = load_packed<kLane>(biases + tile + filter);
      }
    }
  }

  /// Target number T of a warp, as an item of the block; beyond S::kItems (with slices of one block: of its position's)
  /// there is none.
  static __device__ __forceinline__ int item(int t, int warp, int rank) {
    if constexpr (L::kSplit > 1) return rank + L::kSplit * (warp + t * (S::kThreads / 32));
    const int within = warp / S::kPositions + t * L::kWarpsK;
    return within < Warp::kItems ? warp % S::kPositions * Warp::kItems + within : S::kItems;
  }

  template <class PostOps>
  __device__ __forceinline__ void store(Output* __restrict__ output, const Sum (&sums)[kLane], int t,
                                        const PostOps& post_ops,
                                        const typename PostOps::template Operands<kLane>* operands) const {
    if (offset[t] < 0) return;
    float x[kLane];
#pragma unroll
    for (int i = 0; i < kLane; ++i) x[i] = with_bias(sums[i], bias[S::kDirect ? t % Warp::kGroups : t].data[i]);
    if constexpr (S::kVectorStores) {
      post_ops.apply(x, operands != nullptr ? *operands : post_ops.template load<kLane>(offset[t]));
      store_packed(output + offset[t], x);
    } else {
#pragma unroll
      for (int i = 0; i < kLane; ++i) {
        if (i >= filters[t]) break;
        float one[1] = {x[i]};
        post_ops.apply(one, post_ops.template load<1>(offset[t] + i));
        output[offset[t] + i] = Narrow<Output>::from(one[0]);
      }
    }
  }
};

/// Four sums, as they go to another block.
__device__ __forceinline__ float4 as_floats(const Packed<float, 4>& x) {
  return make_float4(x.data[0], x.data[1], x.data[2], x.data[3]);
}
__device__ __forceinline__ float4 as_floats(const Packed<int32, 4>& x) {
  return make_float4(__int_as_float(x.data[0]), __int_as_float(x.data[1]), __int_as_float(x.data[2]),
                     __int_as_float(x.data[3]));
}

/// Adds up what several warps, or blocks, summed, and stores it.
template <class L, class PostOps>
__device__ __forceinline__ void reduce_and_store(
    const typename Tiling<L>::Sum (&sums)[Tiling<L>::kM][Tiling<L>::kN][4], unsigned char* shared, uint64* barrier,
    int rank, const OutputTargets<L>& targets, typename L::Output* __restrict__ output, const PostOps& post_ops,
    const typename PostOps::template Operands<OutputTargets<L>::kLane>* operands) {
  using S = Tiling<L>;
  using Sum = typename S::Sum;
  using Four = Packed<Sum, 4>;
  using Warp = typename S::Warp;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int position = warp % S::kPositions;
  Four* partials = reinterpret_cast<Four*>(shared);
  Four* received = reinterpret_cast<Four*>(shared + S::kBarrierAt - S::kReceiveBytes);
  const auto part = [&](int k, int id, int v) { return ((k * S::kItems + id) * S::kItemVectors + v) * 32 + lane; };

  if constexpr (L::kWarpsK > 1) {
    __syncthreads();  // the ring is read no more
#pragma unroll
    for (int i = 0; i < Warp::kItems; ++i) {
      Sum x[Warp::kLane];
      Warp::take(x, sums, i);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v)
        partials[part(warp / S::kPositions, position * Warp::kItems + i, v)] = {
            {x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]}};
    }
    __syncthreads();
  }
  const auto summed = [&](const Four* from, int count, int stride, int first) {
    Four sum = from[first];
    for (int k = 1; k < count; ++k) {
      const Four more = from[first + k * stride];
#pragma unroll
      for (int i = 0; i < 4; ++i) sum.data[i] += more.data[i];
    }
    return sum;
  };
  if constexpr (L::kSplit > 1) {
    cluster_wait();
    // Every block's sum of an item goes to the item's owner.
#pragma unroll
    for (int t = 0; t < ceil_div(Warp::kItems, L::kWarpsK); ++t) {
      const int within = warp / S::kPositions + t * L::kWarpsK;
      if (within >= Warp::kItems) break;
      const int id = position * Warp::kItems + within;
      Sum x[Warp::kLane];
      if constexpr (L::kWarpsK == 1) Warp::take(x, sums, t);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v) {
        Four sum;
        if constexpr (L::kWarpsK > 1) {
          sum = summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
        } else {
          sum = {{x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]}};
        }
        Four* to = received + ((rank * S::kOwned + id / L::kSplit) * S::kItemVectors + v) * 32 + lane;
        st_async_dsmem(id % L::kSplit, to, as_floats(sum), barrier);
      }
    }
    if (rank < S::kItems) mbarrier_wait(barrier, 0);
  }
#pragma unroll
  for (int t = 0; t < S::kTargets; ++t) {
    const int id = OutputTargets<L>::item(t, warp, rank);
    if (id >= S::kItems) break;
    Sum x[Warp::kLane];
#pragma unroll
    for (int v = 0; v < S::kItemVectors; ++v) {
      const Four sum = L::kSplit > 1 ? summed(received, L::kSplit, S::kOwned * S::kItemVectors * 32,
                                              (id / L::kSplit * S::kItemVectors + v) * 32 + lane)
                                     : summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
#pragma unroll
      for (int i = 0; i < 4; ++i) x[4 * v + i] = sum.data[i];
    }
    targets.store(output, x, t, post_ops, operands == nullptr ? nullptr : operands + t);
  }
}
