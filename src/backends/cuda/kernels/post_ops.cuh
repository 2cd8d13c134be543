#pragma once

#include "tile.cuh"

/// Post-ops on kCount elements of OUTPUT that a library computed: kVector elements a thread.
template <int kCount, int kVector, typename T, class PostOps>
__device__ __forceinline__ void apply_post_ops(T* output, const PostOps& post_ops) {
  const int at = (blockIdx.x * blockDim.x + threadIdx.x) * kVector;
  begin_kernel();
  if (at >= kCount) return;
  const Packed<T, kVector> held = load_packed<kVector>(output + at);
  float x[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = widen(held.data[i]);
  post_ops.apply(x, post_ops.template load<kVector>(at));
  store_packed(output + at, x);
}
