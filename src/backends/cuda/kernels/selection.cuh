#pragma once

#include "block.cuh"
#include "launch.cuh"

// Greedy non-maximum suppression as ops/select_boxes.cpp defines it, to the bit. Candidates are ranked; it is marked,
// among each 1024 that follow one another in rank, who overlaps whom; then one block goes through these windows.

constexpr int32 kRankThreads = 256;
constexpr int32 kWindow = 1024;

/// What std::min and std::max choose, NaN or not.
__device__ __forceinline__ float first_least(float a, float b) { return b < a ? b : a; }
__device__ __forceinline__ float first_most(float a, float b) { return a < b ? b : a; }

struct Corners {
  float x1, y1, x2, y2;
};
__device__ __forceinline__ Corners load_corners(const float* box) { return {box[0], box[1], box[2], box[3]}; }
__device__ __forceinline__ float area(const Corners& box) {
  return __fmul_rn(__fsub_rn(box.x2, box.x1), __fsub_rn(box.y2, box.y1));
}
/// As ops/box_overlap.hpp.
__device__ __forceinline__ float box_overlap(const Corners& a, const Corners& b) {
  const float width = __fsub_rn(first_least(a.x2, b.x2), first_most(a.x1, b.x1));
  const float height = __fsub_rn(first_least(a.y2, b.y2), first_most(a.y1, b.y1));
  if (!(width > 0.0f && height > 0.0f)) return 0.0f;
  const float common = __fmul_rn(width, height);
  const float share = __fdiv_rn(common, __fsub_rn(__fadd_rn(area(a), area(b)), common));
  return share != share ? 0.0f : share;
}

/// A tensor pixel's place in the frame, inside of it.
__device__ __forceinline__ float in_frame(float at, float scale, float offset, float size) {
  const float place = __fdiv_rn(__fsub_rn(at, offset), scale);
  return place < 0.0f ? 0.0f : size < place ? size : place;
}

/// Numbers of the candidates with finite scores by falling score, ties by number, then -1; a thread a candidate.
template <int Capacity>
__device__ __forceinline__ void rank_candidates(const float* scores, const int32* count, int32* order,
                                                float* own_scores) {
  __shared__ float tile[kRankThreads];
  const int32 i = blockIdx.x * kRankThreads + threadIdx.x;
  const int32 all = min(*count, Capacity);
  float mine = INFINITY;
  if (i < Capacity) own_scores[i] = mine = scores[i];
  int32 rank = 0;
  int32 size = 0;
  for (int32 first = 0; first < all; first += kRankThreads) {
    const int32 at = first + static_cast<int32>(threadIdx.x);
    const float score = at < all ? scores[at] : INFINITY;
    __syncthreads();
    // A NaN is neither better nor equal.
    tile[threadIdx.x] = is_finite(score) ? score : __uint_as_float(0x7FFFFFFFu);
    __syncthreads();
    for (int32 j = 0; j < kRankThreads; ++j) {
      const float other = tile[j];
      size += other == other ? 1 : 0;
      rank += other > mine || (other == mine && first + j < i) ? 1 : 0;
    }
  }
  if (i < all && is_finite(mine)) order[rank] = i;
  if (i >= size && i < Capacity) order[i] = -1;
}

/// What the kernels share; Limit candidates are looked at.
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

/// Where the mask of RANK's better ones number 32 WORD to 32 WORD + 31 of its window lies.
__device__ __forceinline__ int32 mask_at(int32 rank, int32 word) {
  return rank / kWindow * (kWindow * kWindow / 32) + word * kWindow + rank % kWindow;
}

/// Who of the better ones of its window would drop each candidate: blocks (LIMIT / 32, 4) of 256 threads, a thread a
/// word. Words behind the candidate's own are left alone.
template <int Limit, bool Agnostic>
__device__ __forceinline__ void mark_overlaps(const Suppression<Limit, Agnostic>& suppression, uint32* masks) {
  constexpr int32 kOthers = 256;
  __shared__ Corners others[kOthers];
  __shared__ float other_classes[kOthers];
  const int32 thread = threadIdx.x;
  const int32 rank = blockIdx.x * 32 + (thread & 31);
  const int32 window = rank / kWindow * kWindow;
  const int32 first = window + blockIdx.y * kOthers;
  if (suppression.candidate(blockIdx.x * 32) < 0 || first > static_cast<int32>(blockIdx.x) * 32 + 31) return;
  if (const int32 other = suppression.candidate(first + thread); other >= 0) {
    others[thread] = load_corners(suppression.boxes + 4 * other);
    other_classes[thread] = suppression.class_of(other);
  }
  __syncthreads();
  const int32 candidate = suppression.candidate(rank);
  const int32 slot = thread & ~31;
  if (candidate < 0 || first + slot > rank) return;
  const Corners box = load_corners(suppression.boxes + 4 * candidate);
  const float class_id = suppression.class_of(candidate);
  uint32 word = 0;
  for (int32 bit = 0; bit < 32 && first + slot + bit < rank; ++bit)
    if (suppression.drops(others[slot + bit], other_classes[slot + bit], box, class_id)) word |= 1u << bit;
  masks[mask_at(rank, (first - window + slot) / 32)] = word;
}

/// Whether this thread's candidate of the window stays, by whom of the better ones it OVERLAPS: it does once all of
/// them are dropped. In each round those are decided whose better ones are.
__device__ __forceinline__ bool settle(const uint32 (&overlaps)[kWindow / 32], bool there) {
  constexpr int32 kWords = kWindow / 32;
  __shared__ uint32 open[kWords];
  __shared__ uint32 kept[kWords];
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
      for (int32 w = 0; w < kWords; ++w) {
        dropped |= overlaps[w] & kept[w];
        waits |= overlaps[w] & open[w];
      }
      keep = dropped == 0 && waits == 0;
      undecided = dropped == 0 && waits != 0;
    }
  } while (__syncthreads_or(undecided) != 0);
  return keep;
}

/// What the operator gives back.
struct Detections {
  float* rows;  ///< of six
  int32* count;
  int32* anchors;
};

/// By one block of kWindow threads. MASKS is null where nothing is suppressed.
template <int Limit, int Most, bool Agnostic>
__device__ __forceinline__ void select(const Suppression<Limit, Agnostic>& suppression, const uint32* masks,
                                       const float* scores, const int32* anchors, const float* geometry,
                                       const Detections& to) {
  const int32 thread = threadIdx.x;
  int32 taken = 0;
  for (int32 window = 0; window < Limit && taken < Most; window += kWindow) {
    const int32 rank = window + thread;
    const int32 candidate = suppression.candidate(rank);
    bool keep = candidate >= 0;
    if (__syncthreads_or(keep) == 0) break;
    Corners box{};
    float class_id = 0.0f;
    if (keep) {
      box = load_corners(suppression.boxes + 4 * candidate);
      class_id = suppression.class_of(candidate);
    }
    if (masks != nullptr) {
      for (int32 k = 0; k < taken && keep; ++k) {
        const float* row = to.rows + 6 * k;
        keep = !suppression.drops(load_corners(row), row[5], box, class_id);
      }
      uint32 overlaps[kWindow / 32];
#pragma unroll
      for (int32 w = 0; w < kWindow / 32; ++w) overlaps[w] = keep && w <= thread / 32 ? masks[mask_at(rank, w)] : 0;
      keep = settle(overlaps, keep);
    }
    const Prefix prefix = block_prefix<kWindow>(keep ? 1 : 0);
    const int32 place = taken + prefix.before;
    if (keep && place < Most) {
      float* row = to.rows + 6 * place;
      row[0] = box.x1;
      row[1] = box.y1;
      row[2] = box.x2;
      row[3] = box.y2;
      row[4] = scores[candidate];
      row[5] = class_id;
      to.anchors[place] = anchors[candidate];
    }
    taken = min(taken + prefix.all, Most);
    __syncthreads();
  }
  for (int32 i = thread; i < 4 * taken; i += kWindow) {
    float& corner = to.rows[i / 4 * 6 + i % 4];
    corner = in_frame(corner, geometry[i % 2], geometry[2 + i % 2], geometry[4 + i % 2]);
  }
  for (int32 i = 6 * taken + thread; i < 6 * Most; i += kWindow) to.rows[i] = 0.0f;
  for (int32 i = taken + thread; i < Most; i += kWindow) to.anchors[i] = 0;
  if (thread == 0) *to.count = taken;
}
