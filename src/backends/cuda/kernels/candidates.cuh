#pragma once

#include "faults.cuh"
#include "launch.cuh"

// What the decoders of detection models share (ops/vision/candidates.hpp). First it is marked which anchors, or pairs of a
// class and an anchor, are candidates: a bit each, in words of 32, and beside each word what is wrong with its numbers.
// Then they are collected in their order. A decoder is a struct SPEC that decode.cpp writes.

/// How a decoder's boxes and scores lie.
constexpr int32 kCenters = 0;  ///< centre and size, then the classes
constexpr int32 kRows = 1;     ///< centre and size, objectness, then the classes
constexpr int32 kGrid = 2;     ///< the same, relative to a cell
constexpr int32 kChosen = 3;   ///< corners, score, class
constexpr int32 kApart = 4;    ///< boxes and scores are two inputs

constexpr int32 kMarkThreads = 256;
constexpr int32 kCollectThreads = 256;
constexpr int32 kChooseThreads = 1024;

struct Candidate {
  float score;
  int32 class_id;  ///< as it is named
  float box[5];
};

template <typename Spec>
struct Decoder {
  const float* predictions;  ///< or boxes
  const float* scores;       ///< the same, or an input of its own
  const uint8* asked;
  const int64* remap;
  const float* thresholds;

  __device__ __forceinline__ float number(int32 anchor, int32 place) const {
    return predictions[anchor * Spec::kAnchorStride + place * Spec::kPlaceStride];
  }
  __device__ __forceinline__ float class_number(int32 anchor, int32 c) const {
    return scores[anchor * Spec::kScoreAnchorStride + (Spec::kFirstClass + c) * Spec::kScoreClassStride];
  }
  __device__ __forceinline__ float score(int32 anchor, int32 c) const {
    if (Spec::kFamily == kRows || Spec::kFamily == kGrid) return __fmul_rn(number(anchor, 4), class_number(anchor, c));
    return class_number(anchor, c);
  }

  /// -1: none.
  __device__ __forceinline__ int64 named(int32 c) const {
    if (Spec::kMapped == 0) return c;
    return c < Spec::kMapped ? remap[c] : -1;
  }
  __device__ __forceinline__ bool allows(int32 c) const {
    const int64 name = named(c);
    return name >= 0 && (Spec::kAsked == 0 || (name < Spec::kAsked && asked[name] != 0));
  }
  __device__ __forceinline__ float threshold(int32 c) const {
    const int64 name = named(c);
    if (name < 0) return INFINITY;
    return name < Spec::kThresholds ? thresholds[name] : Spec::conf();
  }

  /// A box as the model has it.
  struct Numbers {
    float at[5];
  };
  __device__ __forceinline__ Numbers numbers(int32 anchor) const {
    Numbers loaded;
#pragma unroll
    for (int32 i = 0; i < Spec::kBox; ++i) loaded.at[i] = number(anchor, i);
    return loaded;
  }
  /// What NUMBERS, those of ANCHOR, mean: corners, or a turned box.
  __device__ __forceinline__ void box(int32 anchor, const Numbers& numbers, float (&to)[5]) const {
    if (Spec::kFamily == kChosen || Spec::kFamily == kApart) {
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
      // In float64, so that the rounded result is the host's but for one in some hundred.
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
  /// What is wrong with an anchor's box.
  __device__ __forceinline__ uint32 faults_of(int32 anchor) const {
    float corners[5];
    box(anchor, numbers(anchor), corners);
    return box_faults<Spec::kBox>(corners);
  }
};

/// Where the cell of an anchor of kGrid stands.
struct GridCell {
  int32 column, line;
  float stride;
};

/// The number of class C, which is the best of none where there is no such anchor or class: loads that wait for no
/// branch are under way together.
template <typename Spec>
__device__ __forceinline__ float class_or_none(const Decoder<Spec>& decoder, int32 anchor, int32 c) {
  return anchor < Spec::kAnchors && c < Spec::kClasses ? decoder.class_number(anchor, c) : -INFINITY;
}

/// The best class of each of a block's 32 anchors, in every thread of the first warp; NAN_ANCHORS: a bit for each that
/// has a NaN among its classes.
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
    // An anchor's classes lie together: a warp goes through them.
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

/// A bit for each anchor whose best class makes it a candidate, what is wrong with each word's, and the best classes and
/// scores of all.
template <typename Spec>
__device__ __forceinline__ void mark_anchors(const Decoder<Spec>& decoder, uint32* words, uint32* faults, float* scores,
                                             int32* classes) {
  const int32 lane = threadIdx.x & 31;
  const int32 anchor = blockIdx.x * 32 + lane;
  // Asked before the classes are looked through, and of no branch's threads alone: the box comes with them.
  const uint32 box_faults = decoder.faults_of(min(anchor, Spec::kAnchors - 1));
  const bool finite = (__ballot_sync(0xFFFFFFFFu, is_finite_box(box_faults)) >> lane & 1) != 0;
  Best best{0.0f, 0};
  uint32 nan_anchors = 0;
  if (Spec::kFamily != kChosen) best = best_class(decoder, nan_anchors);
  if (threadIdx.x >= 32) return;
  bool marked = anchor < Spec::kAnchors;
  bool nan = marked && (nan_anchors >> lane & 1) != 0;
  if (marked && Spec::kFamily == kChosen) {
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
  marked = marked && best.value > Spec::conf() && decoder.allows(best.place) &&
           best.value > decoder.threshold(best.place);
  const uint32 own = (nan ? kNanConfidence : 0) | (marked ? box_faults | confidence_faults(best.value) : 0);
  const uint32 word = __ballot_sync(0xFFFFFFFFu, marked && finite && is_finite(best.value));
  const uint32 told = faults_of_warp(own);
  if (lane == 0) {
    words[blockIdx.x] = word;
    faults[blockIdx.x] = told;
  }
  if (anchor >= Spec::kAnchors) return;
  scores[anchor] = best.value;
  classes[anchor] = best.place;
}

/// A bit in LISTED for each pair of class and anchor, class by class, that competes for a place, and in TAKEN where it
/// would be a candidate; FAULTS: what is wrong with each word's.
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
  const uint32 told = faults_of_warp(own);
  if ((threadIdx.x & 31) != 0 || pair / 32 >= Spec::kWords) return;
  listed[pair / 32] = list_word;
  taken[pair / 32] = take_word;
  faults[pair / 32] = told;
}

/// What is wrong with any of the words', by THREADS threads of one block.
template <typename Spec, int Threads>
__device__ __forceinline__ void join_faults(const uint32* faults, int32* told) {
  uint32 own = 0;
  for (int32 w = threadIdx.x; w < Spec::kWords; w += Threads) own |= faults[w];
  const uint32 all = faults_of_block(own);
  if (threadIdx.x == 0) *told = static_cast<int32>(all);
}

/// Rises with X; -0 and 0 are equal.
__device__ __forceinline__ uint32 order_of(float x) {
  const uint32 bits = __float_as_uint(__fadd_rn(x, 0.0f));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// By one block: of more listed pairs than there is room for, the best alone are taken, of equal ones the first.
template <typename Spec>
__device__ __forceinline__ void choose_pairs(const Decoder<Spec>& decoder, const uint32* listed, uint32* taken) {
  __shared__ int32 histogram[256];
  __shared__ uint32 digit;
  __shared__ int32 room;
  const int32 thread = threadIdx.x;
  int32 own = 0;
  for (int32 w = thread; w < Spec::kWords; w += kChooseThreads) own += __popc(listed[w]);
  if (block_prefix<kChooseThreads>(own).all <= Spec::kCapacity) return;
  const auto each = [&](int32 w, auto&& visit) {
    for (uint32 rest = listed[w]; rest != 0; rest &= rest - 1) {
      const int32 bit = __ffs(static_cast<int32>(rest)) - 1;
      const int32 pair = 32 * w + bit;
      visit(bit, order_of(decoder.score(pair % Spec::kAnchors, pair / Spec::kAnchors)));
    }
  };
  // The order of the last that is taken, eight bits a round from the top.
  uint32 last = 0;
  if (thread == 0) room = Spec::kCapacity;
  for (int32 shift = 24; shift >= 0; shift -= 8) {
    if (thread < 256) histogram[thread] = 0;
    __syncthreads();
    const uint32 known = shift == 24 ? 0 : 0xFFFFFFFFu << (shift + 8);
    for (int32 w = thread; w < Spec::kWords; w += kChooseThreads)
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
  // Those of that very order are taken from the front while there is room.
  constexpr int32 kRun = (Spec::kWords + kChooseThreads - 1) / kChooseThreads;
  const int32 begin = thread * kRun;
  const int32 end = min(begin + kRun, Spec::kWords);
  int32 equal = 0;
  for (int32 w = begin; w < end; ++w) each(w, [&](int32, uint32 order) { equal += order == last ? 1 : 0; });
  int32 place = block_prefix<kChooseThreads>(equal).before;
  for (int32 w = begin; w < end; ++w) {
    uint32 stays = 0;
    each(w, [&](int32 bit, uint32 order) {
      if (order > last || (order == last && place++ < room)) stays |= 1u << bit;
    });
    taken[w] &= stays;
  }
}

/// How many are taken before each block of collect(), and last how many at all. By one block.
template <typename Spec>
__device__ __forceinline__ void count_taken(const uint32* taken, int32* starts) {
  constexpr int32 kBlockWords = kCollectThreads / 32;
  constexpr int32 kBlocks = (Spec::kWords + kBlockWords - 1) / kBlockWords;
  constexpr int32 kRun = (kBlocks + kChooseThreads - 1) / kChooseThreads;
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
  const Prefix prefix = block_prefix<kChooseThreads>(own);
  int32 before = prefix.before;
  for (int32 block = begin; block < end; ++block) {
    starts[block] = before;
    before += count(block);
  }
  if (threadIdx.x == 0) starts[kBlocks] = prefix.all;
}

/// Where the decoder's outputs lie.
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
  to.classes[place] = static_cast<int32>(decoder.named(c));
  to.anchors[place] = anchor;
}

/// Writes the candidates of TAKEN one after the other, and zeros behind them. TAKEN is of anchors, which have
/// BEST_SCORES and BEST_CLASSES, or of pairs, which have STARTS.
template <typename Spec, bool kOfPairs>
__device__ __forceinline__ void collect(const Decoder<Spec>& decoder, const uint32* taken, const int32* starts,
                                        const float* best_scores, const int32* best_classes,
                                        const CandidateOutputs& to) {
  constexpr int32 kBlockWords = kCollectThreads / 32;
  const int32 slot = blockIdx.x * kCollectThreads + threadIdx.x;
  const int32 first_word = blockIdx.x * kBlockWords;
  const int32 word = slot / 32;
  // An anchor's are asked for before it is known whether they are needed, and so come with the words.
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
    for (int32 first = 0; first < Spec::kWords; first += kCollectThreads) {
      const int32 w = first + threadIdx.x;
      const int32 bits = w < Spec::kWords ? __popc(taken[w]) : 0;
      own += bits;
      own_before += w < first_word ? bits : 0;
    }
    all = block_prefix<kCollectThreads>(own).all;
    before = block_prefix<kCollectThreads>(own_before).all;
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
