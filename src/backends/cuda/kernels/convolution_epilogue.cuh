#pragma once

#include "convolution_traits.cuh"

// Epilogue of convolution.cuh: split-K reduction and stores.

/// Output addresses, bias and post-ops of a warp's items.
template <class L>
struct Epilogue {
  using S = ConvolutionTraits<L>;
  using Accumulator = typename S::Accumulator;
  using Bias = typename S::Bias;
  using Output = typename L::Output;
  using Warp = typename S::Warp;
  static constexpr int kLane = Warp::kLane;

  int offset[S::kEpilogueItems];  // in elements; -1: not stored
  int filters[S::kVectorStores ? 1 : S::kEpilogueItems];
  Packed<Bias, kLane> bias[S::kDirect ? Warp::kGroups : S::kEpilogueItems];

  __device__ __forceinline__ void init(const Bias* __restrict__ biases, int image, int y, int x, int first_pixel,
                                       int filter_tile, int group, int rank) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
#pragma unroll
    for (int t = 0; t < S::kEpilogueItems; ++t) {
      const int id = item(t, warp, rank);
      const int position = id / Warp::kItems;
      const int row = position % L::kWarpsM * S::kM * 16 + Warp::row(id % Warp::kItems, lane);
      const int filter =
          filter_tile * L::kTileFilters + position / L::kWarpsM * S::kN * 8 + Warp::column(id % Warp::kItems, lane);
      bool valid = row < S::kTilePixels && (S::kDirect || id < S::kItems) && filter < L::kFilters;
      const int pixel = first_pixel + row;
      const int image_row = pixel / L::kOutWidth;
      const int out_y = S::kAllTaps ? y + row / L::kTileWidth : image_row % L::kOutHeight;
      const int out_x = S::kAllTaps ? x + row % L::kTileWidth : pixel % L::kOutWidth;
      const int of = S::kAllTaps ? image : image_row / L::kOutHeight;
      valid = valid && (S::kAllTaps ? out_y < L::kOutHeight && out_x < L::kOutWidth : pixel < S::kPixels);
      if constexpr (S::kPhases > 1) {
        const int phase = filter / S::kPhaseFilters;
        const int scaled_y = out_y * L::kScaleY + phase / L::kScaleX;
        const int scaled_x = out_x * L::kScaleX + phase % L::kScaleX;
        valid = valid && scaled_y < L::kScaledHeight && scaled_x < L::kScaledWidth;
        const int pixel_index = (of * L::kScaledHeight + scaled_y) * L::kScaledWidth + scaled_x;
        offset[t] = valid ? pixel_index * L::kOutPitch + filter % S::kPhaseFilters : -1;
      } else {
        const int pixel_index = S::kAllTaps ? (of * L::kOutHeight + out_y) * L::kOutWidth + out_x : pixel;
        offset[t] = valid ? pixel_index * L::kOutPitch + group * L::kFilters + filter : -1;
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

  /// Item of the block that target T of a warp stands for. Items of S::kItems and more do not exist.
  static __device__ __forceinline__ int item(int t, int warp, int rank) {
    if constexpr (L::kSplit > 1) return rank + L::kSplit * (warp + t * (S::kThreads / 32));
    const int within = warp / S::kPositions + t * L::kWarpsK;
    return within < Warp::kItems ? warp % S::kPositions * Warp::kItems + within : S::kItems;
  }

  template <class PostOps>
  __device__ __forceinline__ void store(Output* __restrict__ output, const Accumulator (&acc)[kLane], int t,
                                        const PostOps& post_ops,
                                        const typename PostOps::template Operands<kLane>* operands) const {
    if (offset[t] < 0) return;
    float x[kLane];
#pragma unroll
    for (int i = 0; i < kLane; ++i) x[i] = add_bias(acc[i], bias[S::kDirect ? t % Warp::kGroups : t].data[i]);
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

/// Four accumulators as st.async sends them.
__device__ __forceinline__ float4 as_float4(const Packed<float, 4>& x) {
  return make_float4(x.data[0], x.data[1], x.data[2], x.data[3]);
}
__device__ __forceinline__ float4 as_float4(const Packed<int32, 4>& x) {
  return make_float4(__int_as_float(x.data[0]), __int_as_float(x.data[1]), __int_as_float(x.data[2]),
                     __int_as_float(x.data[3]));
}

/// Split-K reduction over warps and over the blocks of the cluster, then the epilogue.
template <class L, class PostOps>
__device__ __forceinline__ void reduce_split_k(
    const typename ConvolutionTraits<L>::Accumulator (&acc)[ConvolutionTraits<L>::kM][ConvolutionTraits<L>::kN][4],
    unsigned char* shared, uint64* barrier, int rank, const Epilogue<L>& epilogue,
    typename L::Output* __restrict__ output, const PostOps& post_ops,
    const typename PostOps::template Operands<Epilogue<L>::kLane>* operands) {
  using S = ConvolutionTraits<L>;
  using Accumulator = typename S::Accumulator;
  using Four = Packed<Accumulator, 4>;
  using Warp = typename S::Warp;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const int position = warp % S::kPositions;
  Four* partials = reinterpret_cast<Four*>(shared);
  Four* received = reinterpret_cast<Four*>(shared + S::kBarrierAt - S::kReceiveBytes);
  const auto slot = [&](int k, int id, int v) { return ((k * S::kItems + id) * S::kItemVectors + v) * 32 + lane; };

  if constexpr (L::kWarpsK > 1) {
    __syncthreads();  // the main loop no longer reads shared memory
#pragma unroll
    for (int i = 0; i < Warp::kItems; ++i) {
      Accumulator x[Warp::kLane];
      Warp::extract(x, acc, i);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v)
        partials[slot(warp / S::kPositions, position * Warp::kItems + i, v)] = {
            {x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]}};
    }
    __syncthreads();
  }
  const auto reduce = [&](const Four* from, int count, int stride, int first) {
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
    // Each block sends its partial accumulators of an item to the block that owns it.
#pragma unroll
    for (int t = 0; t < ceil_div(Warp::kItems, L::kWarpsK); ++t) {
      const int within = warp / S::kPositions + t * L::kWarpsK;
      if (within >= Warp::kItems) break;
      const int id = position * Warp::kItems + within;
      Accumulator x[Warp::kLane];
      if constexpr (L::kWarpsK == 1) Warp::extract(x, acc, t);
#pragma unroll
      for (int v = 0; v < S::kItemVectors; ++v) {
        Four sum;
        if constexpr (L::kWarpsK > 1) {
          sum = reduce(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, slot(0, id, v));
        } else {
          sum = {{x[4 * v], x[4 * v + 1], x[4 * v + 2], x[4 * v + 3]}};
        }
        Four* to = received + ((rank * S::kOwned + id / L::kSplit) * S::kItemVectors + v) * 32 + lane;
        st_async_dsmem(id % L::kSplit, to, as_float4(sum), barrier);
      }
    }
    if (rank < S::kItems) mbarrier_wait(barrier, 0);
  }
#pragma unroll
  for (int t = 0; t < S::kEpilogueItems; ++t) {
    const int id = Epilogue<L>::item(t, warp, rank);
    if (id >= S::kItems) break;
    Accumulator x[Warp::kLane];
#pragma unroll
    for (int v = 0; v < S::kItemVectors; ++v) {
      const Four sum = L::kSplit > 1 ? reduce(received, L::kSplit, S::kOwned * S::kItemVectors * 32,
                                              (id / L::kSplit * S::kItemVectors + v) * 32 + lane)
                                     : reduce(partials, L::kWarpsK, S::kItems * S::kItemVectors * 32, slot(0, id, v));
#pragma unroll
      for (int i = 0; i < 4; ++i) x[4 * v + i] = sum.data[i];
    }
    epilogue.store(output, x, t, post_ops, operands == nullptr ? nullptr : operands + t);
  }
}
