#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/op.hpp"

// What the decoders of detection models share.  A decoder turns a model's output into candidates, outputs 0 to 3:
// boxes float32 [CAP, 4] (corners in the model's pixels), scores float32 [CAP], classes int32 [CAP], count int32 [1];
// what lies past the count is zero.  Attributes: conf (candidates have more), multi_label (a candidate for every class
// above conf, not for an anchor's best one alone).  The last input, optional, is bool [C]: the classes asked for.
// Scores and boxes that are not finite make no candidate.
namespace saccade {

/// With multi_label at most so many candidates, the best ones, are kept.
inline constexpr std::int64_t kMaxCandidates = 30000;

using Box = std::array<float, 4>;

/// The outputs of a decoder, being filled.
class CandidateWriter {
 public:
  explicit CandidateWriter(const KernelContext& context)
      : boxes_(context.out<float>(0)),
        scores_(context.out<float>(1)),
        classes_(context.out<std::int32_t>(2)),
        count_(context.out<std::int32_t>(3)[0]) {}

  /// Appends a candidate unless a number is not finite. There is room for one an anchor (or CAP, with multi_label).
  void add(const Box& box, float score, std::int32_t class_id) {
    if (!std::isfinite(score) || !std::ranges::all_of(box, [](float v) { return std::isfinite(v); })) return;
    std::ranges::copy(box, boxes_.begin() + static_cast<std::ptrdiff_t>(4 * size_));
    scores_[size_] = score;
    classes_[size_++] = class_id;
  }
  void finish() {
    std::ranges::fill(boxes_.subspan(4 * size_), 0.0F);
    std::ranges::fill(scores_.subspan(size_), 0.0F);
    std::ranges::fill(classes_.subspan(size_), 0);
    count_ = static_cast<std::int32_t>(size_);
  }
  /// Room to work in until add() has come as far: entries at and after the number of candidates added.
  std::span<float> scores() { return scores_; }
  std::span<std::int32_t> classes() { return classes_; }

 private:
  std::span<float> boxes_;
  std::span<float> scores_;
  std::span<std::int32_t> classes_;
  std::int32_t& count_;
  std::size_t size_ = 0;
};

/// The classes asked for: the input's, or all.
class ClassFilter {
 public:
  ClassFilter(const KernelContext& context, int input) {
    if (context.has(input)) allowed_ = context.in<bool>(input);
  }
  bool allows(std::int64_t class_id) const {
    return allowed_.empty() || (class_id < std::ssize(allowed_) && allowed_[static_cast<std::size_t>(class_id)]);
  }

 private:
  std::span<const bool> allowed_;
};

/// Checks the prediction's type and the class filter, and sets the outputs' types.
void infer_candidates(InferContext& context, std::int64_t anchors, std::int64_t classes);

/// A decoder for multi_label: SCORE(anchor, class), BOX(anchor). Keeps the best CAP candidates in a heap of indices
/// that lives in the classes output, then writes them in the order of class and anchor.
template <typename Score, typename MakeBox>
void decode_multi_label(CandidateWriter& writer, std::int64_t anchors, std::int64_t classes, float conf,
                        const ClassFilter& filter, const Score& score, const MakeBox& box) {
  const std::span<std::int32_t> heap = writer.classes();
  const auto score_of = [&](std::int32_t flat) { return score(flat % anchors, flat / anchors); };
  const auto better = [&](std::int32_t a, std::int32_t b) {
    const float left = score_of(a);
    const float right = score_of(b);
    return left > right || (left == right && a < b);
  };
  std::size_t size = 0;
  const auto kept = [&] { return heap.first(size); };
  for (std::int64_t c = 0; c < classes; ++c) {
    if (!filter.allows(c)) continue;
    for (std::int64_t a = 0; a < anchors; ++a) {
      const float value = score(a, c);
      if (!(value > conf) || !std::isfinite(value)) continue;
      const auto flat = static_cast<std::int32_t>(c * anchors + a);
      if (size == heap.size()) {  // the front is the worst
        if (!better(flat, heap[0])) continue;
        std::ranges::pop_heap(kept(), better);
        heap[size - 1] = flat;
      } else {
        heap[size++] = flat;
      }
      std::ranges::push_heap(kept(), better);
    }
  }
  std::ranges::sort(kept());
  for (std::size_t i = 0; i < size; ++i) {
    const std::int32_t flat = heap[i];
    writer.add(box(flat % anchors), score_of(flat), static_cast<std::int32_t>(flat / anchors));
  }
}

/// Corners of a box given by its centre and size.
inline Box corners(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

}  // namespace saccade
