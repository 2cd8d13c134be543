#pragma once

#include "convolution_tiling.cuh"

// How convolution.cuh joins partial sums and stores them.

/// Where a warp's items go.
template <class L>
struct OutputTargets {
  using S = Tiling<L>;
  using T = typename L::Element;
  using Warp = typename S::Warp;
  static constexpr int kLane = Warp::kLane;

  int offset[S::kTargets];  // in elements; -1: nowhere
  int filters[S::kVectorStores ? 1 : S::kTargets];
  Packed<float, kLane> bias[S::kDirect ? Warp::kGroups : S::kTargets];

  __device__ __forceinline__ void aim(const float* __restrict__ biases, int image, int y, int x, int first_pixel,
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
      if constexpr (!S::kVectorStores) filters[t] = lesser_of(L::kFilters - filter, kLane);
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
  __device__ __forceinline__ void store(T* __restrict__ output, float (&x)[kLane], int t, const PostOps& post_ops,
                                        const typename PostOps::template Operands<kLane>* operands) const {
    if (offset[t] < 0) return;
#pragma unroll
    for (int i = 0; i < kLane; ++i) x[i] += bias[S::kDirect ? t % Warp::kGroups : t].data[i];
    if constexpr (S::kVectorStores) {
      post_ops.apply(x, operands != nullptr ? *operands : post_ops.template load<kLane>(offset[t]));
      store_packed(output + offset[t], x);
    } else {
#pragma unroll
      for (int i = 0; i < kLane; ++i) {
        if (i >= filters[t]) break;
        float one[1] = {x[i]};
        post_ops.apply(one, post_ops.template load<1>(offset[t] + i));
        output[offset[t] + i] = Narrow<T>::from(one[0]);
      }
    }
  }
};

/// Adds up what several warps, or blocks, summed, and stores it.
template <class L, class PostOps>
__device__ __forceinline__ void reduce_and_store(
    const float (&sums)[Tiling<L>::kM][Tiling<L>::kN][4], unsigned char* shared, uint64* barrier, int rank,
    const OutputTargets<L>& targets, typename L::Element* __restrict__ output, const PostOps& post_ops,
    const typename PostOps::template Operands<OutputTargets<L>::kLane>* operands) {
  using S = Tiling<L>;
  using Warp = typename S::Warp;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int position = warp % S::kPositions;
  float4* partials = reinterpret_cast<float4*>(shared);
  float4* received = reinterpret_cast<float4*>(shared + S::kBarrierAt - S::kReceiveBytes);
  const auto part = [&](int k, int id, int v) { return ((k * S::kItems + id) * S::kItemVectors + v) * 32 + lane; };

  if constexpr (L::kWarpsK > 1) {
    __syncthreads();  // the ring is read no more
#pragma unroll
    for (int i = 0; i < Warp::kItems; ++i) {
      float x[Warp::kLane];
      Warp::take(x, sums, i);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v)
        partials[part(warp / S::kPositions, position * Warp::kItems + i, v)] =
            make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
    }
    __syncthreads();
  }
  const auto summed = [&](const float4* from, int count, int stride, int first) {
    float4 sum = from[first];
    for (int k = 1; k < count; ++k) {
      const float4 more = from[first + k * stride];
      sum.x += more.x, sum.y += more.y, sum.z += more.z, sum.w += more.w;
    }
    return sum;
  };
  if constexpr (L::kSplit > 1) {
    wait_for_cluster();
    // Every block's sum of an item goes to the item's owner.
#pragma unroll
    for (int t = 0; t < ceil_div(Warp::kItems, L::kWarpsK); ++t) {
      const int within = warp / S::kPositions + t * L::kWarpsK;
      if (within >= Warp::kItems) break;
      const int id = position * Warp::kItems + within;
      float x[Warp::kLane];
      if constexpr (L::kWarpsK == 1) Warp::take(x, sums, t);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v) {
        float4 sum;
        if constexpr (L::kWarpsK > 1) {
          sum = summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
        } else {
          sum = make_float4(x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]);
        }
        float4* to = received + ((rank * S::kOwned + id / L::kSplit) * S::kItemVectors + v) * 32 + lane;
        store_to_peer(id % L::kSplit, to, sum, barrier);
      }
    }
    if (rank < S::kItems) wait_barrier(barrier, 0);
  }
#pragma unroll
  for (int t = 0; t < S::kTargets; ++t) {
    const int id = OutputTargets<L>::item(t, warp, rank);
    if (id >= S::kItems) break;
    float x[Warp::kLane];
#pragma unroll
    for (int v = 0; v < S::kItemVectors; ++v) {
      const float4 sum = L::kSplit > 1 ? summed(received, L::kSplit, S::kOwned * S::kItemVectors * 32,
                                                (id / L::kSplit * S::kItemVectors + v) * 32 + lane)
                                       : summed(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, part(0, id, v));
      x[4 * v] = sum.x, x[4 * v + 1] = sum.y, x[4 * v + 2] = sum.z, x[4 * v + 3] = sum.w;
    }
    targets.store(output, x, t, post_ops, operands == nullptr ? nullptr : operands + t);
  }
}
