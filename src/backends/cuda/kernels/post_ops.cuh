#pragma once

#include "tile.cuh"

/// A sum that a library rounded to its type: of a float16 an infinity is one that it did not hold.
template <typename T>
__device__ __forceinline__ float rounded_sum(T sum) {
  return widen(sum);
}
template <>
__device__ __forceinline__ float rounded_sum(float16 sum) {
  const float x = widen(sum);
  return isinf(x) ? copysignf(65504.0F, x) : x;
}

/// Post-ops on kCount elements of OUTPUT that a library computed: kVector elements a thread.
template <int kCount, int kVector, typename T, class PostOps>
__device__ __forceinline__ void apply_post_ops(T* output, const PostOps& post_ops) {
  const int at = (blockIdx.x * blockDim.x + threadIdx.x) * kVector;
  pdl_wait_and_trigger();
  if (at >= kCount) return;
  const Packed<T, kVector> held = load_packed<kVector>(output + at);
  float x[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = rounded_sum(held.data[i]);
  post_ops.apply(x, post_ops.template load<kVector>(at));
  store_packed(output + at, x);
}
