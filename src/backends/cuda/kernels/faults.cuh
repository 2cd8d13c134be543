#pragma once

#include "block.cuh"

// Validity of predictions, as ops/vision/faults.hpp defines it: the bits of Faults.

constexpr uint32 kNanConfidence = 1u << 0;
constexpr uint32 kConfidenceRange = 1u << 1;
constexpr uint32 kNanBox = 1u << 2;
constexpr uint32 kInfiniteBox = 1u << 3;
constexpr uint32 kNegativeSize = 1u << 4;
constexpr uint32 kNotFiniteMask = 1u << 6;
constexpr int32 kFaultBits = 10;

__device__ __forceinline__ bool is_nan(float x) { return x != x; }

__device__ __forceinline__ uint32 confidence_faults(float score) {
  constexpr float kSlack = 1e-3f;
  if (is_nan(score)) return kNanConfidence;
  return score >= -kSlack && score <= 1.0f + kSlack ? 0 : kConfidenceRange;
}

/// For a box of COUNT numbers: four corners, or five of an oriented box.
template <int Count, int Room>
__device__ __forceinline__ uint32 box_faults(const float (&box)[Room]) {
  uint32 faults = 0;
#pragma unroll
  for (int32 i = 0; i < Count; ++i) {
    if (is_nan(box[i])) faults |= kNanBox;
    if (fabsf(box[i]) == INFINITY) faults |= kInfiniteBox;
  }
  const bool oriented = Count == 5;
  if (box[2] < (oriented ? 0.0f : box[0]) || box[3] < (oriented ? 0.0f : box[1])) faults |= kNegativeSize;
  return faults;
}
__device__ __forceinline__ bool is_finite_box(uint32 faults) { return (faults & (kNanBox | kInfiniteBox)) == 0; }

/// Warp-wide OR. All lanes call it.
__device__ __forceinline__ uint32 faults_of_warp(uint32 own) {
  if (__ballot_sync(0xFFFFFFFFu, own != 0) == 0) return 0;
  for (int32 step = 16; step > 0; step /= 2) own |= __shfl_xor_sync(0xFFFFFFFFu, own, step);
  return own;
}

/// Block-wide OR. All threads call it.
__device__ __forceinline__ uint32 faults_of_block(uint32 own) {
  uint32 all = 0;
  if (__syncthreads_or(own != 0) == 0) return all;
  for (int32 bit = 0; bit < kFaultBits; ++bit)
    if (__syncthreads_or((own >> bit & 1u) != 0) != 0) all |= 1u << bit;
  return all;
}
