#pragma once

#include "candidates.cuh"

// Selection of objects from the queries of detection transformers.

/// As ops/vision/portable_math.hpp: every operation is rounded separately, in the same order.
__device__ __forceinline__ float portable_exp(float x) {
  if (!(x > -87.3f)) return x != x ? x : 0.0f;
  if (x > 88.7f) return INFINITY;
  const float n = rintf(__fmul_rn(x, 1.44269504f));
  float r = __fsub_rn(x, __fmul_rn(n, 0.693359375f));
  r = __fsub_rn(r, __fmul_rn(n, -2.12194440e-4f));
  float p = 1.9875691500e-4f;
  p = __fadd_rn(__fmul_rn(p, r), 1.3981999507e-3f);
  p = __fadd_rn(__fmul_rn(p, r), 8.3334519073e-3f);
  p = __fadd_rn(__fmul_rn(p, r), 4.1665795894e-2f);
  p = __fadd_rn(__fmul_rn(p, r), 1.6666665459e-1f);
  p = __fadd_rn(__fmul_rn(p, r), 5.0000001201e-1f);
  p = __fadd_rn(__fadd_rn(__fmul_rn(p, __fmul_rn(r, r)), r), 1.0f);
  const int32 whole = static_cast<int32>(n);
  const int32 half = whole / 2;
  const float power = __uint_as_float(static_cast<uint32>(half + 127) << 23);
  const float rest = __uint_as_float(static_cast<uint32>(whole - half + 127) << 23);
  return __fmul_rn(__fmul_rn(p, power), rest);
}
__device__ __forceinline__ float portable_sigmoid(float x) {
  return __fdiv_rn(1.0f, __fadd_rn(1.0f, portable_exp(-x)));
}

/// Maps query boxes, normalized to the model's input image, to the frame.
struct ToFrame {
  const float* geometry;
  bool stretch;
  float width, height;  ///< of the model's input image

  __device__ __forceinline__ float pixel(float normalized, int32 axis) const {
    const float frame = geometry[4 + axis];
    const float at = stretch
                         ? __fmul_rn(normalized, frame)
                         : __fdiv_rn(__fsub_rn(__fmul_rn(normalized, axis == 0 ? width : height), geometry[2 + axis]),
                                     geometry[axis]);
    return rintf(at < 0.0f ? 0.0f : frame < at ? frame : at);
  }
  /// Normalized corners.
  template <typename Spec>
  __device__ __forceinline__ static void corners(const Decoder<Spec>& decoder, int32 query, float (&to)[4]) {
    const float half_width = __fmul_rn(decoder.number(query, 2), 0.5f);
    const float half_height = __fmul_rn(decoder.number(query, 3), 0.5f);
    const float x = decoder.number(query, 0);
    const float y = decoder.number(query, 1);
    to[0] = __fsub_rn(x, half_width);
    to[1] = __fsub_rn(y, half_height);
    to[2] = __fadd_rn(x, half_width);
    to[3] = __fadd_rn(y, half_height);
  }
  /// The frame box of a query with finite corners.
  template <typename Spec>
  __device__ __forceinline__ void box(const Decoder<Spec>& decoder, int32 query, float (&to)[4]) const {
    corners(decoder, query, to);
#pragma unroll
    for (int32 i = 0; i < 4; ++i) to[i] = pixel(to[i], i % 2);
  }
};

/// The score of each query that is an object, NaN otherwise; its class and its fault bits. One warp per query.
template <typename Spec>
__device__ __forceinline__ void score_queries(const Decoder<Spec>& decoder, float* scores, int32* classes,
                                              uint32* faults) {
  constexpr int32 kNone = 0x7FFFFFFF;
  const int32 query = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (query >= Spec::kAnchors) return;
  Best best{-1.0f, kNone};
  bool nan = false;
  for (int32 c = threadIdx.x & 31; c < Spec::kClasses; c += 32) {
    const float p = portable_sigmoid(decoder.class_number(query, c));
    if (p > best.value) best = {p, c};
    nan |= is_nan(p);
  }
  best = best_of_warp(best);
  uint32 fault_bits = __ballot_sync(0xFFFFFFFFu, nan) != 0 ? kNanConfidence : 0;
  if ((threadIdx.x & 31) != 0) return;
  bool is_object = best.place != kNone && decoder.allows(best.place) && best.value > decoder.threshold(best.place);
  if (is_object) {
    float corners[4];
    ToFrame::corners(decoder, query, corners);
    const uint32 of_box = box_faults<4>(corners);
    is_object = is_finite_box(of_box);
    fault_bits |= of_box;
  }
  faults[query] = fault_bits;
  scores[query] = is_object ? best.value : __uint_as_float(0x7FFFFFFFu);
  classes[query] = is_object ? static_cast<int32>(decoder.mapped_class(best.place)) : 0;
}

/// Compacts the objects in query order; if they exceed the capacity, the highest scores are kept. By one block.
template <typename Spec>
__device__ __forceinline__ void keep_queries(const Decoder<Spec>& decoder, const ToFrame& to_frame, const float* scores,
                                             const int32* classes, const uint32* faults, float* rows, int32* count,
                                             int32* queries, int32* fault_bits) {
  const int32 thread = threadIdx.x;
  int32 own = 0;
  uint32 own_faults = 0;
  for (int32 q = thread; q < Spec::kAnchors; q += kQueryThreads) {
    own += scores[q] == scores[q] ? 1 : 0;
    own_faults |= faults[q];
  }
  const uint32 all_faults = faults_of_block(own_faults);
  if (thread == 0) *fault_bits = static_cast<int32>(all_faults);
  const bool fits = block_prefix<kQueryThreads>(own).all <= Spec::kCapacity;
  int32 taken = 0;
  for (int32 first = 0; first < Spec::kAnchors; first += kQueryThreads) {
    const int32 query = first + thread;
    const float score = query < Spec::kAnchors ? scores[query] : __uint_as_float(0x7FFFFFFFu);
    bool keep = score == score;
    if (keep && !fits) {
      int32 better = 0;
      for (int32 q = 0; q < Spec::kAnchors; ++q) better += scores[q] > score || (scores[q] == score && q < query);
      keep = better < Spec::kCapacity;
    }
    const Prefix prefix = block_prefix<kQueryThreads>(keep ? 1 : 0);
    if (keep) {
      const int32 place = taken + prefix.before;
      float box[4];
      to_frame.box(decoder, query, box);
      for (int32 i = 0; i < 4; ++i) rows[6 * place + i] = box[i];
      rows[6 * place + 4] = score;
      rows[6 * place + 5] = static_cast<float>(classes[query]);
      queries[place] = query;
    }
    taken += prefix.all;
  }
  for (int32 i = 6 * taken + thread; i < 6 * Spec::kCapacity; i += kQueryThreads) rows[i] = 0.0f;
  for (int32 i = taken + thread; i < Spec::kCapacity; i += kQueryThreads) queries[i] = 0;
  if (thread == 0) *count = taken;
}
