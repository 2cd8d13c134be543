#pragma once

#include "block.cuh"
#include "launch.cuh"
#include "launch_sizes.hpp"

// Greedy non-maximum suppression, bit-identical to ops/vision/select_boxes.cpp. Candidates are ranked by score. Within
// each span of 2048 consecutive ranks an overlap bit matrix is computed. One block then scans them 1024 at a time: most
// candidates are dropped by ANDing their overlap masks with the bits of the boxes kept in the span; boxes kept in
// earlier spans are compared directly.

/// As std::min and std::max, also for NaN.
__device__ __forceinline__ float std_min(float a, float b) { return b < a ? b : a; }
__device__ __forceinline__ float std_max(float a, float b) { return a < b ? b : a; }

struct Corners {
  float x1, y1, x2, y2;
};
__device__ __forceinline__ Corners load_corners(const float* box) { return {box[0], box[1], box[2], box[3]}; }
__device__ __forceinline__ float area(const Corners& box) {
  return __fmul_rn(__fsub_rn(box.x2, box.x1), __fsub_rn(box.y2, box.y1));
}
/// IoU as ops/vision/box_overlap.hpp computes it.
__device__ __forceinline__ float box_overlap(const Corners& a, const Corners& b) {
  const float width = __fsub_rn(std_min(a.x2, b.x2), std_max(a.x1, b.x1));
  const float height = __fsub_rn(std_min(a.y2, b.y2), std_max(a.y1, b.y1));
  if (!(width > 0.0f && height > 0.0f)) return 0.0f;
  const float common = __fmul_rn(width, height);
  const float iou = __fdiv_rn(common, __fsub_rn(__fadd_rn(area(a), area(b)), common));
  return iou != iou ? 0.0f : iou;
}

/// A pixel position of the input tensor mapped to the frame and clamped to it.
__device__ __forceinline__ float in_frame(float at, float scale, float offset, float size) {
  const float place = __fdiv_rn(__fsub_rn(at, offset), scale);
  return place < 0.0f ? 0.0f : size < place ? size : place;
}

constexpr int32 kRankTile = 4 * kRankThreads;

/// Number of COUNT scores for which BETTER(score, index) holds. Scores up to the next multiple of four are NaN.
template <typename Better>
__device__ __forceinline__ int32 count_better(const float4* scores, int32 count, const Better& better) {
  // Counted in float, since a comparison yields 1.0 or 0.0 in one instruction; four independent accumulators.
  float sums[4] = {};
#pragma unroll 4
  for (int32 j = 0; j < count; j += 4) {
    const float4 four = scores[j / 4];
    sums[0] += better(four.x, j) ? 1.0f : 0.0f;
    sums[1] += better(four.y, j + 1) ? 1.0f : 0.0f;
    sums[2] += better(four.z, j + 2) ? 1.0f : 0.0f;
    sums[3] += better(four.w, j + 3) ? 1.0f : 0.0f;
  }
  return static_cast<int32>(sums[0] + sums[1] + (sums[2] + sums[3]));
}

/// Indices of candidates with finite scores in descending order, ties by index, then -1. Each is compared with all
/// others, one shared-memory tile at a time, by kRankSharers threads of different warps.
template <int Capacity>
__device__ __forceinline__ void rank_candidates(const float* scores, const int32* count, int32* order,
                                                float* own_scores) {
  constexpr int32 kShare = kRankTile / kRankSharers;
  __shared__ float4 tile[kRankThreads];
  __shared__ int32 ranks[kRankSharers][kRanked];
  const int32 thread = threadIdx.x;
  const int32 sharer = thread / kRanked;
  const int32 begin = blockIdx.x * kRanked;
  const int32 i = begin + thread % kRanked;
  // NaN compares neither greater nor equal.
  const auto comparable = [&](int32 at, int32 all) {
    const float score = at < Capacity ? scores[at] : INFINITY;
    return at < all && is_finite(score) ? score : __uint_as_float(0x7FFFFFFFu);
  };
  const auto four = [&](int32 first, int32 all) {
    const int32 at = first + 4 * thread;
    return float4{comparable(at, all), comparable(at + 1, all), comparable(at + 2, all), comparable(at + 3, all)};
  };
  const float mine = i < Capacity ? scores[i] : INFINITY;
  const int32 all = min(*count, Capacity);
  int32 rank = 0;
  int32 finite = 0;
  float4 next = four(0, all);
  for (int32 first = 0; first < all; first += kRankTile) {
    __syncthreads();
    tile[thread] = next;
    finite += (next.x == next.x) + (next.y == next.y) + (next.z == next.z) + (next.w == next.w);
    __syncthreads();
    next = four(first + kRankTile, all);
    const int32 start = first + sharer * kShare;
    const int32 size = min(kShare, all - start);
    const float4* iou = &tile[sharer * kShare / 4];
    // Ties go to the lower index: all candidates before the block's own, none after.
    if (start + kShare <= begin)
      rank += count_better(iou, size, [&](float other, int32) { return other >= mine; });
    else if (start >= begin + kRanked)
      rank += count_better(iou, size, [&](float other, int32) { return other > mine; });
    else
      rank += count_better(iou, size,
                           [&](float other, int32 j) { return other > mine || (other == mine && start + j < i); });
  }
  ranks[sharer][thread % kRanked] = rank;
  const int32 ranked = block_prefix<kRankThreads>(finite).all;
  if (sharer != 0 || i >= Capacity) return;
  own_scores[i] = mine;
  for (int32 k = 1; k < kRankSharers; ++k) rank += ranks[k][thread];
  if (i < all && is_finite(mine)) order[rank] = i;
  if (i >= ranked) order[i] = -1;
}

/// Parameters of the suppression kernels. Only the first LIMIT ranks are considered.
template <int Limit, bool Agnostic>
struct Suppression {
  const float* boxes;
  const int32* classes;
  const int32* order;
  float iou;

  __device__ __forceinline__ int32 candidate(int32 rank) const { return rank < Limit ? order[rank] : -1; }
  __device__ __forceinline__ float class_of(int32 candidate) const { return static_cast<float>(classes[candidate]); }
  __device__ __forceinline__ bool drops(const Corners& better, float better_class, const Corners& box,
                                        float class_id) const {
    return (Agnostic || better_class == class_id) && box_overlap(better, box) > iou;
  }
};

/// Offset of the mask word of RANK for ranks 32 WORD to 32 WORD + 31 of its span.
__device__ __forceinline__ int32 mask_at(int32 rank, int32 word) {
  return rank / kSpan * (kSpan * kSpan / 32) + word * kSpan + rank % kSpan;
}

/// Overlap masks: which better-ranked candidates of the span would suppress each candidate. Blocks (LIMIT / 32, 8) of
/// 256 threads, one thread per word. Words beyond the candidate's own are not written.
template <int Limit, bool Agnostic>
__device__ __forceinline__ void mark_overlaps(const Suppression<Limit, Agnostic>& suppression, uint32* masks) {
  __shared__ Corners others[kOverlapThreads];
  __shared__ float other_classes[kOverlapThreads];
  const int32 thread = threadIdx.x;
  const int32 begin = blockIdx.x * 32;
  const int32 rank = begin + (thread & 31);
  const int32 span = rank / kSpan * kSpan;
  const int32 first = span + blockIdx.y * kOverlapThreads;
  if (first > begin + 31) return;
  const int32 other = suppression.candidate(first + thread);
  const int32 candidate = suppression.candidate(rank);
  if (suppression.candidate(begin) < 0) return;
  others[thread] = other < 0 ? Corners{} : load_corners(suppression.boxes + 4 * other);
  other_classes[thread] = other < 0 ? 0.0f : suppression.class_of(other);
  const Corners box = candidate < 0 ? Corners{} : load_corners(suppression.boxes + 4 * candidate);
  const float class_id = candidate < 0 ? 0.0f : suppression.class_of(candidate);
  __syncthreads();
  const int32 slot = thread & ~31;
  const int32 better = rank - first - slot;  // better-ranked bits of the word
  if (candidate < 0 || better < 0) return;
  uint32 word = 0;
#pragma unroll 8
  for (int32 bit = 0; bit < 32; ++bit)
    if (suppression.drops(others[slot + bit], other_classes[slot + bit], box, class_id)) word |= 1u << bit;
  masks[mask_at(rank, (first - span + slot) / 32)] = better < 32 ? word & ((1u << better) - 1) : word;
}

constexpr int32 kWindowWords = kWindow / 32;

/// Whether this thread's candidate of the window is kept, given the better-ranked ones it OVERLAPS. Each round decides
/// the candidates whose overlapping predecessors are all decided.
__device__ __forceinline__ bool resolve_window(const uint32 (&overlaps)[kWindowWords], bool there) {
  __shared__ uint32 open[kWindowWords];
  __shared__ uint32 kept[kWindowWords];
  bool undecided = there;
  bool keep = false;
  do {
    const uint32 open_word = __ballot_sync(0xFFFFFFFFu, undecided);
    const uint32 kept_word = __ballot_sync(0xFFFFFFFFu, keep);
    if ((threadIdx.x & 31) == 0) {
      open[threadIdx.x / 32] = open_word;
      kept[threadIdx.x / 32] = kept_word;
    }
    __syncthreads();
    if (undecided) {
      uint32 dropped = 0;
      uint32 waits = 0;
#pragma unroll
      for (int32 w = 0; w < kWindowWords; ++w) {
        dropped |= overlaps[w] & kept[w];
        waits |= overlaps[w] & open[w];
      }
      keep = dropped == 0 && waits == 0;
      undecided = dropped == 0 && waits != 0;
    }
  } while (__syncthreads_or(undecided) != 0);
  return keep;
}

/// Outputs of the operator.
struct Detections {
  float* rows;  ///< of six numbers
  int32* count;
  int32* anchors;
};

/// Whether none of the candidates CHOSEN[0..COUNT) suppresses BOX. Every thread calls it.
template <int Limit, bool Agnostic>
__device__ __forceinline__ bool survives(const Suppression<Limit, Agnostic>& suppression, const int32* chosen,
                                         int32 count, const Corners& box, float class_id, bool keep) {
  constexpr int32 kChunk = 512;
  __shared__ Corners better[kChunk];
  __shared__ float better_classes[kChunk];
  for (int32 first = 0; first < count; first += kChunk) {
    const int32 size = min(kChunk, count - first);
    __syncthreads();
    if (const int32 k = threadIdx.x; k < size) {
      better[k] = load_corners(suppression.boxes + 4 * chosen[first + k]);
      better_classes[k] = suppression.class_of(chosen[first + k]);
    }
    __syncthreads();
    for (int32 k = 0; k < size && keep; ++k) keep = !suppression.drops(better[k], better_classes[k], box, class_id);
  }
  return keep;
}

/// By one block of kWindow threads. MASKS is null without suppression. CHOSEN has capacity for MOST candidates.
template <int Limit, int Most, bool Agnostic>
__device__ __forceinline__ void select(const Suppression<Limit, Agnostic>& suppression, const uint32* masks,
                                       int32* chosen, const float* scores, const int32* anchors, const float* geometry,
                                       const Detections& to) {
  __shared__ uint32 kept[kSpan / 32];
  const int32 thread = threadIdx.x;
  __shared__ float to_frame[6];
  if (thread < 6) to_frame[thread] = geometry[thread];
  int32 taken = 0;
  int32 of_spans = 0;  // kept in previous spans
  int32 candidate = suppression.candidate(thread);
  for (int32 window = 0; window < Limit && taken < Most; window += kWindow) {
    const int32 rank = window + thread;
    const int32 in_span = window % kSpan;
    const int32 following = suppression.candidate(rank + kWindow);
    bool keep = candidate >= 0;
    if (__syncthreads_or(keep) == 0) break;
    // All of a candidate's loads are issued together, to overlap their latency.
    Corners box{};
    float class_id = 0.0f;
    float score = 0.0f;
    int32 anchor = 0;
    if (keep) {
      box = load_corners(suppression.boxes + 4 * candidate);
      class_id = suppression.class_of(candidate);
      score = scores[candidate];
      anchor = anchors[candidate];
    }
    if (masks != nullptr) {
      if (in_span == 0) of_spans = taken;
      uint32 dropped = 0;
      const uint32* mask = masks + mask_at(rank, 0);
#pragma unroll 8
      for (int32 w = 0; w < in_span / 32; ++w, mask += kSpan)
        if (keep) dropped |= *mask & kept[w];
      keep = survives(suppression, chosen, of_spans, box, class_id, keep && dropped == 0);
      uint32 overlaps[kWindowWords] = {};
      const int32 own_words = keep ? thread / 32 + 1 : 0;
#pragma unroll
      for (int32 w = 0; w < kWindowWords; ++w)
        if (w < own_words) overlaps[w] = mask[w * kSpan];
      keep = resolve_window(overlaps, keep);
      const uint32 kept_word = __ballot_sync(0xFFFFFFFFu, keep);
      if ((thread & 31) == 0) kept[rank % kSpan / 32] = kept_word;
    }
    const Prefix prefix = block_prefix<kWindow>(keep ? 1 : 0);
    const int32 place = taken + prefix.before;
    if (keep && place < Most) {
      float* row = to.rows + 6 * place;
      const float corners[4] = {box.x1, box.y1, box.x2, box.y2};
#pragma unroll
      for (int32 k = 0; k < 4; ++k)
        row[k] = in_frame(corners[k], to_frame[k % 2], to_frame[2 + k % 2], to_frame[4 + k % 2]);
      row[4] = score;
      row[5] = class_id;
      to.anchors[place] = anchor;
      if (masks != nullptr) chosen[place] = candidate;
    }
    taken = min(taken + prefix.all, Most);
    candidate = following;
  }
  for (int32 i = 6 * taken + thread; i < 6 * Most; i += kWindow) to.rows[i] = 0.0f;
  for (int32 i = taken + thread; i < Most; i += kWindow) to.anchors[i] = 0;
  if (thread == 0) *to.count = taken;
}
