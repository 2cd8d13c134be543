#pragma once

#include "faults.cuh"
#include "launch.cuh"
#include "launch_sizes.hpp"

// Candidate filtering shared by the decoders of detection models (ops/vision/candidates.hpp). One kernel marks which
// anchors, or class-anchor pairs for multi-label models, are candidates: a bit each in 32-bit words, with fault bits
// per word. Another compacts them in order. A decoder is described by a struct SPEC that decode.cpp writes.

/// Layout of a decoder's boxes and scores.
constexpr int32 kCenters = 0;   ///< centre and size, then class scores
constexpr int32 kRows = 1;      ///< centre and size, objectness, then class scores
constexpr int32 kGrid = 2;      ///< as kRows, relative to a grid cell
constexpr int32 kEndToEnd = 3;  ///< corners, score, class
constexpr int32 kSeparate = 4;  ///< boxes and scores are separate inputs

struct Candidate {
  float score;
  int32 class_id;  ///< after remapping
  float box[5];
};

template <typename Spec>
struct Decoder {
  const float* predictions;  ///< or boxes
  const float* scores;       ///< the same tensor, or a separate input
  const uint8* requested;
  const int64* remap;
  const float* thresholds;

  __device__ __forceinline__ float number(int32 anchor, int32 place) const {
    return predictions[anchor * Spec::kAnchorStride + place * Spec::kFieldStride];
  }
  __device__ __forceinline__ float class_number(int32 anchor, int32 c) const {
    return scores[anchor * Spec::kScoreAnchorStride + (Spec::kFirstClass + c) * Spec::kScoreClassStride];
  }
  __device__ __forceinline__ float score(int32 anchor, int32 c) const {
    if (Spec::kFamily == kRows || Spec::kFamily == kGrid) return __fmul_rn(number(anchor, 4), class_number(anchor, c));
    return class_number(anchor, c);
  }

  /// -1: dropped.
  __device__ __forceinline__ int64 mapped_class(int32 c) const {
    if (Spec::kMapped == 0) return c;
    return c < Spec::kMapped ? remap[c] : -1;
  }
  __device__ __forceinline__ bool allows(int32 c) const {
    const int64 name = mapped_class(c);
    return name >= 0 && (Spec::kRequested == 0 || (name < Spec::kRequested && requested[name] != 0));
  }
  __device__ __forceinline__ float threshold(int32 c) const {
    const int64 name = mapped_class(c);
    if (name < 0) return INFINITY;
    return name < Spec::kThresholds ? thresholds[name] : Spec::conf();
  }

  /// A box as the model outputs it.
  struct Numbers {
    float at[5];
  };
  __device__ __forceinline__ Numbers numbers(int32 anchor) const {
    Numbers loaded;
#pragma unroll
    for (int32 i = 0; i < Spec::kBox; ++i) loaded.at[i] = number(anchor, i);
    return loaded;
  }
  /// Decodes NUMBERS of ANCHOR into corners, or an oriented box.
  __device__ __forceinline__ void box(int32 anchor, const Numbers& numbers, float (&to)[5]) const {
    if (Spec::kFamily == kEndToEnd || Spec::kFamily == kSeparate) {
      for (int32 i = 0; i < Spec::kBox; ++i) to[i] = numbers.at[i];
      return;
    }
    float x = numbers.at[0];
    float y = numbers.at[1];
    float width = numbers.at[2];
    float height = numbers.at[3];
    if constexpr (Spec::kFamily == kGrid) {
      const auto cell = Spec::cell(anchor);
      x = __fmul_rn(__fadd_rn(x, static_cast<float>(cell.column)), cell.stride);
      y = __fmul_rn(__fadd_rn(y, static_cast<float>(cell.line)), cell.stride);
      // In float64, so that the rounded result differs from the host's in less than 1 % of cases.
      width = __fmul_rn(static_cast<float>(exp(static_cast<double>(width))), cell.stride);
      height = __fmul_rn(static_cast<float>(exp(static_cast<double>(height))), cell.stride);
    }
    const float half_width = __fmul_rn(width, 0.5f);
    const float half_height = __fmul_rn(height, 0.5f);
    to[0] = __fsub_rn(x, half_width);
    to[1] = __fsub_rn(y, half_height);
    to[2] = __fadd_rn(x, half_width);
    to[3] = __fadd_rn(y, half_height);
  }
  /// Fault bits of an anchor's box.
  __device__ __forceinline__ uint32 faults_of(int32 anchor) const {
    float corners[5];
    box(anchor, numbers(anchor), corners);
    return box_faults<Spec::kBox>(corners);
  }
};

/// Grid cell of an anchor of kGrid.
struct GridCell {
  int32 column, line;
  float stride;
};

/// Score of class C; -infinity beyond the last anchor or class, so that loads need no branch and overlap.
template <typename Spec>
__device__ __forceinline__ float class_or_none(const Decoder<Spec>& decoder, int32 anchor, int32 c) {
  return anchor < Spec::kAnchors && c < Spec::kClasses ? decoder.class_number(anchor, c) : -INFINITY;
}

/// Best class of each of a block's 32 anchors, in every thread of the first warp. NAN_ANCHORS has a bit per anchor with
/// a NaN score.
template <typename Spec>
__device__ __forceinline__ Best best_class(const Decoder<Spec>& decoder, uint32& nan_anchors) {
  constexpr int32 kWarps = kMarkThreads / 32;
  __shared__ Best found[kWarps][32];
  __shared__ uint32 nans[kWarps];
  const auto nans_of_block = [&] {
    uint32 all = 0;
    for (int32 i = 0; i < kWarps; ++i) all |= nans[i];
    return all;
  };
  const int32 lane = threadIdx.x & 31;
  const int32 warp = threadIdx.x >> 5;
  if (Spec::kScoreClassStride == 1) {
    // Class scores of an anchor are contiguous: one warp reads them.
    uint32 own_nans = 0;
#pragma unroll
    for (int32 slot = warp; slot < 32; slot += kWarps) {
      const int32 anchor = blockIdx.x * 32 + slot;
      Best best{-INFINITY, 0};
      bool nan = false;
#pragma unroll 4
      for (int32 first = 0; first < Spec::kClasses; first += 32) {
        const float value = class_or_none(decoder, anchor, first + lane);
        if (value > best.value) best = {value, first + lane};
        nan |= is_nan(value);
      }
      best = best_of_warp(best);
      if (__ballot_sync(0xFFFFFFFFu, nan) != 0) own_nans |= 1u << slot;
      if (lane == 0) found[0][slot] = best;
    }
    if (lane == 0) nans[warp] = own_nans;
    __syncthreads();
    nan_anchors = nans_of_block();
    return found[0][lane];
  }
  const int32 anchor = blockIdx.x * 32 + lane;
  Best best{-INFINITY, 0};
  bool nan = false;
  constexpr int32 kRun = (Spec::kClasses + kWarps - 1) / kWarps;
#pragma unroll 16
  for (int32 i = 0; i < kRun; ++i) {
    const int32 c = kRun * warp + i;
    const float value = class_or_none(decoder, anchor, c);
    if (value > best.value) best = {value, c};
    nan |= is_nan(value);
  }
  found[warp][lane] = best;
  const uint32 own_nans = __ballot_sync(0xFFFFFFFFu, nan);
  if (lane == 0) nans[warp] = own_nans;
  __syncthreads();
  nan_anchors = nans_of_block();
  best = found[0][lane];
  for (int32 i = 1; i < kWarps; ++i)
    if (found[i][lane].value > best.value) best = found[i][lane];
  return best;
}

/// Marks anchors whose best class passes the thresholds; stores fault bits per word, and the best class and score of
/// all anchors.
template <typename Spec>
__device__ __forceinline__ void mark_anchors(const Decoder<Spec>& decoder, uint32* words, uint32* faults, float* scores,
                                             int32* classes) {
  const int32 lane = threadIdx.x & 31;
  const int32 anchor = blockIdx.x * 32 + lane;
  // Loaded before the class loop, by all threads, to overlap with it.
  const uint32 box_faults = decoder.faults_of(min(anchor, Spec::kAnchors - 1));
  const bool finite = (__ballot_sync(0xFFFFFFFFu, is_finite_box(box_faults)) >> lane & 1) != 0;
  Best best{0.0f, 0};
  uint32 nan_anchors = 0;
  if (Spec::kFamily != kEndToEnd) best = best_class(decoder, nan_anchors);
  if (threadIdx.x >= 32) return;
  bool marked = anchor < Spec::kAnchors;
  bool nan = marked && (nan_anchors >> lane & 1) != 0;
  if (marked && Spec::kFamily == kEndToEnd) {
    const float class_id = decoder.number(anchor, 5);
    best = {decoder.number(anchor, 4), 0};
    nan = is_nan(best.value) || (best.value > Spec::conf() && !is_finite(class_id));
    marked = class_id >= 0.0f && class_id < 1e6f;
    if (marked) best.place = static_cast<int32>(class_id);
  }
  if (marked && (Spec::kFamily == kRows || Spec::kFamily == kGrid)) {
    const float objectness = decoder.number(anchor, 4);
    marked = objectness > Spec::conf();
    best.value = __fmul_rn(objectness, best.value);
    nan = is_nan(objectness) || (marked && (nan || is_nan(best.value)));
  }
  marked =
      marked && best.value > Spec::conf() && decoder.allows(best.place) && best.value > decoder.threshold(best.place);
  const uint32 own = (nan ? kNanConfidence : 0) | (marked ? box_faults | confidence_faults(best.value) : 0);
  const uint32 word = __ballot_sync(0xFFFFFFFFu, marked && finite && is_finite(best.value));
  const uint32 fault_bits = faults_of_warp(own);
  if (lane == 0) {
    words[blockIdx.x] = word;
    faults[blockIdx.x] = fault_bits;
  }
  if (anchor >= Spec::kAnchors) return;
  scores[anchor] = best.value;
  classes[anchor] = best.place;
}

/// LISTED: a bit for each class-anchor pair, class-major, that competes for capacity. TAKEN: pairs that would be
/// candidates. FAULTS: fault bits per word.
template <typename Spec>
__device__ __forceinline__ void mark_pairs(const Decoder<Spec>& decoder, uint32* listed, uint32* taken,
                                           uint32* faults) {
  const int32 pair = blockIdx.x * kMarkThreads + threadIdx.x;
  bool lists = pair < Spec::kPairs;
  bool takes = false;
  uint32 own = 0;
  if (lists) {
    const int32 anchor = pair % Spec::kAnchors;
    const int32 c = pair / Spec::kAnchors;
    const float score = decoder.score(anchor, c);
    lists = decoder.allows(c);
    if (lists && is_nan(score)) own = kNanConfidence;
    lists = lists && score > Spec::conf();
    if (lists && score > decoder.threshold(c)) {
      own = decoder.faults_of(anchor) | confidence_faults(score);
      takes = is_finite_box(own) && is_finite(score);
    }
    lists = lists && is_finite(score);
  }
  const uint32 list_word = __ballot_sync(0xFFFFFFFFu, lists);
  const uint32 take_word = __ballot_sync(0xFFFFFFFFu, takes);
  const uint32 fault_bits = faults_of_warp(own);
  if ((threadIdx.x & 31) != 0 || pair / 32 >= Spec::kWords) return;
  listed[pair / 32] = list_word;
  taken[pair / 32] = take_word;
  faults[pair / 32] = fault_bits;
}

/// ORs the fault bits of all words, by one block of THREADS threads.
template <typename Spec, int Threads>
__device__ __forceinline__ void combine_faults(const uint32* faults, int32* fault_bits) {
  uint32 own = 0;
  for (int32 w = threadIdx.x; w < Spec::kWords; w += Threads) own |= faults[w];
  const uint32 all = faults_of_block(own);
  if (threadIdx.x == 0) *fault_bits = static_cast<int32>(all);
}

/// Order-preserving bit pattern; -0 and 0 are equal.
__device__ __forceinline__ uint32 order_of(float x) {
  const uint32 bits = __float_as_uint(__fadd_rn(x, 0.0f));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// By one block: if more pairs are listed than there is capacity, keeps the highest scores; ties go to the first.
template <typename Spec>
__device__ __forceinline__ void select_pairs(const Decoder<Spec>& decoder, const uint32* listed, uint32* taken) {
  __shared__ int32 histogram[256];
  __shared__ uint32 digit;
  __shared__ int32 room;
  const int32 thread = threadIdx.x;
  int32 own = 0;
  for (int32 w = thread; w < Spec::kWords; w += kSelectThreads) own += __popc(listed[w]);
  if (block_prefix<kSelectThreads>(own).all <= Spec::kCapacity) return;
  const auto each = [&](int32 w, auto&& visit) {
    for (uint32 rest = listed[w]; rest != 0; rest &= rest - 1) {
      const int32 bit = __ffs(static_cast<int32>(rest)) - 1;
      const int32 pair = 32 * w + bit;
      visit(bit, order_of(decoder.score(pair % Spec::kAnchors, pair / Spec::kAnchors)));
    }
  };
  // Radix selection of the lowest score that is kept, eight bits per round.
  uint32 last = 0;
  if (thread == 0) room = Spec::kCapacity;
  for (int32 shift = 24; shift >= 0; shift -= 8) {
    if (thread < 256) histogram[thread] = 0;
    __syncthreads();
    const uint32 known = shift == 24 ? 0 : 0xFFFFFFFFu << (shift + 8);
    for (int32 w = thread; w < Spec::kWords; w += kSelectThreads)
      each(w, [&](int32, uint32 order) {
        if ((order & known) == last) atomicAdd(&histogram[order >> shift & 255], 1);
      });
    __syncthreads();
    if (thread == 0) {
      int32 left = room;
      uint32 d = 255;
      for (; d > 0 && histogram[d] < left; --d) left -= histogram[d];
      digit = d;
      room = left;
    }
    __syncthreads();
    last |= digit << shift;
  }
  // Ties at that score are kept from the front up to the capacity.
  constexpr int32 kRun = (Spec::kWords + kSelectThreads - 1) / kSelectThreads;
  const int32 begin = thread * kRun;
  const int32 end = min(begin + kRun, Spec::kWords);
  int32 equal = 0;
  for (int32 w = begin; w < end; ++w) each(w, [&](int32, uint32 order) { equal += order == last ? 1 : 0; });
  int32 place = block_prefix<kSelectThreads>(equal).before;
  for (int32 w = begin; w < end; ++w) {
    uint32 stays = 0;
    each(w, [&](int32 bit, uint32 order) {
      if (order > last || (order == last && place++ < room)) stays |= 1u << bit;
    });
    taken[w] &= stays;
  }
}

/// Exclusive prefix sum of taken candidates per block of compact(), then their total. By one block.
template <typename Spec>
__device__ __forceinline__ void count_taken(const uint32* taken, int32* starts) {
  constexpr int32 kBlockWords = kCompactThreads / 32;
  constexpr int32 kBlocks = (Spec::kWords + kBlockWords - 1) / kBlockWords;
  constexpr int32 kRun = (kBlocks + kSelectThreads - 1) / kSelectThreads;
  __syncthreads();
  const int32 begin = threadIdx.x * kRun;
  const int32 end = min(begin + kRun, kBlocks);
  const auto count = [&](int32 block) {
    int32 sum = 0;
    for (int32 w = block * kBlockWords; w < min((block + 1) * kBlockWords, Spec::kWords); ++w) sum += __popc(taken[w]);
    return sum;
  };
  int32 own = 0;
  for (int32 block = begin; block < end; ++block) own += count(block);
  const Prefix prefix = block_prefix<kSelectThreads>(own);
  int32 before = prefix.before;
  for (int32 block = begin; block < end; ++block) {
    starts[block] = before;
    before += count(block);
  }
  if (threadIdx.x == 0) starts[kBlocks] = prefix.all;
}

/// Outputs of the decoder.
struct CandidateOutputs {
  float* boxes;
  float* scores;
  int32* classes;
  int32* anchors;
  int32* count;
};

template <typename Spec>
__device__ __forceinline__ void write_candidate(const Decoder<Spec>& decoder, const CandidateOutputs& to, int32 place,
                                                int32 anchor, const typename Decoder<Spec>::Numbers& numbers, int32 c,
                                                float score) {
  float corners[5];
  decoder.box(anchor, numbers, corners);
  for (int32 i = 0; i < Spec::kBox; ++i) to.boxes[Spec::kBox * place + i] = corners[i];
  to.scores[place] = score;
  to.classes[place] = static_cast<int32>(decoder.mapped_class(c));
  to.anchors[place] = anchor;
}

/// Compacts the candidates of TAKEN and zeroes the remaining rows. For anchors, scores and classes come from
/// BEST_SCORES and BEST_CLASSES; for pairs, offsets come from STARTS.
template <typename Spec, bool kOfPairs>
__device__ __forceinline__ void compact(const Decoder<Spec>& decoder, const uint32* taken, const int32* starts,
                                        const float* best_scores, const int32* best_classes,
                                        const CandidateOutputs& to) {
  constexpr int32 kBlockWords = kCompactThreads / 32;
  const int32 slot = blockIdx.x * kCompactThreads + threadIdx.x;
  const int32 first_word = blockIdx.x * kBlockWords;
  const int32 word = slot / 32;
  // Loaded speculatively, to overlap with the words.
  int32 anchor = slot;
  int32 c = 0;
  float score = 0.0f;
  typename Decoder<Spec>::Numbers numbers{};
  if (!kOfPairs && slot < Spec::kPairs) {
    numbers = decoder.numbers(anchor);
    score = best_scores[slot];
    c = best_classes[slot];
  }
  uint32 own_words[kBlockWords];
#pragma unroll
  for (int32 i = 0; i < kBlockWords; ++i) own_words[i] = first_word + i < Spec::kWords ? taken[first_word + i] : 0;
  int32 before = 0;
  int32 all = 0;
  if (kOfPairs) {
    before = starts[blockIdx.x];
    all = starts[gridDim.x];
  } else {
    int32 own = 0;
    int32 own_before = 0;
#pragma unroll 4
    for (int32 first = 0; first < Spec::kWords; first += kCompactThreads) {
      const int32 w = first + threadIdx.x;
      const int32 bits = w < Spec::kWords ? __popc(taken[w]) : 0;
      own += bits;
      own_before += w < first_word ? bits : 0;
    }
    all = block_prefix<kCompactThreads>(own).all;
    before = block_prefix<kCompactThreads>(own_before).all;
  }
  if (slot == 0) *to.count = all;
  const uint32 bit = 1u << (slot & 31);
  uint32 bits = 0;
#pragma unroll
  for (int32 i = 0; i < kBlockWords; ++i) {
    if (first_word + i < word) before += __popc(own_words[i]);
    if (first_word + i == word) bits = own_words[i];
  }
  if ((bits & bit) != 0) {
    if (kOfPairs) {
      anchor = slot % Spec::kAnchors;
      c = slot / Spec::kAnchors;
      numbers = decoder.numbers(anchor);
      score = decoder.score(anchor, c);
    }
    write_candidate(decoder, to, before + __popc(bits & (bit - 1)), anchor, numbers, c, score);
  }
  if (slot < all || slot >= Spec::kCapacity) return;
  for (int32 i = 0; i < Spec::kBox; ++i) to.boxes[Spec::kBox * slot + i] = 0.0f;
  to.scores[slot] = 0.0f;
  to.classes[slot] = 0;
  to.anchors[slot] = 0;
}
