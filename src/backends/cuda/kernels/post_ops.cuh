#pragma once

#include "tile.cuh"

/// A library's output as an accumulator. An infinity in float16 is an overflow of its rounding and becomes the largest
/// finite value.
template <typename T>
__device__ __forceinline__ float unclamped(T accumulator) {
  return widen(accumulator);
}
template <>
__device__ __forceinline__ float unclamped(float16 accumulator) {
  const float x = widen(accumulator);
  return isinf(x) ? copysignf(65504.0F, x) : x;
}

/// Applies post-ops to kCount elements of OUTPUT that a library computed, kVector elements per thread.
template <int kCount, int kVector, typename T, class PostOps>
__device__ __forceinline__ void apply_post_ops(T* output, const PostOps& post_ops) {
  const int at = (blockIdx.x * blockDim.x + threadIdx.x) * kVector;
  pdl_wait_and_trigger();
  if (at >= kCount) return;
  const Packed<T, kVector> held = load_packed<kVector>(output + at);
  float x[kVector];
#pragma unroll
  for (int i = 0; i < kVector; ++i) x[i] = unclamped(held.data[i]);
  post_ops.apply(x, post_ops.template load<kVector>(at));
  store_packed(output + at, x);
}
