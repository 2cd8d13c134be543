#pragma once

#include "candidates.cuh"

// The answers of transformers and of classifiers.

/// As ops/portable_math.hpp: every operation rounded as it stands there.
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

constexpr int32 kQueryThreads = 1024;

/// How queries' boxes, shares of the model's picture, come to the frame.
struct ToFrame {
  const float* geometry;
  bool stretch;
  float width, height;  ///< of the model's picture

  __device__ __forceinline__ float pixel(float share, int32 axis) const {
    if (!is_finite(share)) return share;
    const float frame = geometry[4 + axis];
    const float at = stretch ? __fmul_rn(share, frame)
                             : __fdiv_rn(__fsub_rn(__fmul_rn(share, axis == 0 ? width : height), geometry[2 + axis]),
                                         geometry[axis]);
    return rintf(at < 0.0f ? 0.0f : frame < at ? frame : at);
  }
  /// Whether all four are finite.
  template <typename Spec>
  __device__ __forceinline__ bool box(const Decoder<Spec>& decoder, int32 query, float (&to)[4]) const {
    const float half_width = __fmul_rn(decoder.number(query, 2), 0.5f);
    const float half_height = __fmul_rn(decoder.number(query, 3), 0.5f);
    const float x = decoder.number(query, 0);
    const float y = decoder.number(query, 1);
    to[0] = pixel(__fsub_rn(x, half_width), 0);
    to[1] = pixel(__fsub_rn(y, half_height), 1);
    to[2] = pixel(__fadd_rn(x, half_width), 0);
    to[3] = pixel(__fadd_rn(y, half_height), 1);
    return is_finite(to[0]) && is_finite(to[1]) && is_finite(to[2]) && is_finite(to[3]);
  }
};

/// The score of each query that is an object, NaN of the others, and its class; a warp a query.
template <typename Spec>
__device__ __forceinline__ void score_queries(const Decoder<Spec>& decoder, const ToFrame& to_frame, float* scores,
                                              int32* classes) {
  constexpr int32 kNone = 0x7FFFFFFF;
  const int32 query = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (query >= Spec::kAnchors) return;
  Best best{-1.0f, kNone};
  for (int32 c = threadIdx.x & 31; c < Spec::kClasses; c += 32)
    if (const float p = portable_sigmoid(decoder.class_number(query, c)); p > best.value) best = {p, c};
  best = best_of_warp(best);
  if ((threadIdx.x & 31) != 0) return;
  float box[4];
  const bool is_object = best.place != kNone && decoder.allows(best.place) &&
                         best.value > decoder.threshold(best.place) && to_frame.box(decoder, query, box);
  scores[query] = is_object ? best.value : __uint_as_float(0x7FFFFFFFu);
  classes[query] = is_object ? static_cast<int32>(decoder.named(best.place)) : 0;
}

/// The objects in the queries' order; where there are too many, those of the highest scores. By one block.
template <typename Spec>
__device__ __forceinline__ void keep_queries(const Decoder<Spec>& decoder, const ToFrame& to_frame, const float* scores,
                                             const int32* classes, float* rows, int32* count, int32* queries) {
  const int32 thread = threadIdx.x;
  int32 own = 0;
  for (int32 q = thread; q < Spec::kAnchors; q += kQueryThreads) own += scores[q] == scores[q] ? 1 : 0;
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
