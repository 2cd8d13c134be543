#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/core/op.hpp"
#include "ops/vision/faults.hpp"

// Shared code of the decoders of detection models.  A decoder converts a model's output to candidates, outputs 0 to 5:
// boxes float32 [CAP, 4] (corners in model pixels; [CAP, 5] for oriented boxes), scores float32 [CAP], classes int32
// [CAP], anchors int32 [CAP] (the row or column of the model's output that each comes from), count int32 [1]; elements
// past the count are zero; faults int32 [1], the bits of Faults.  Input 1, optional, is bool [classes]: the requested
// classes.  Attributes: conf (scores must exceed it); threshold (floats, optional: one per class, not below conf,
// instead of it); remap (ints, optional: the class of each class of the output; -1: no candidate); multi_label (one
// candidate per class above conf, instead of one per anchor for its best class).  Scores and boxes that are not finite
// do not become candidates, but are reported as faults: NaN among the scores of all classes (with an objectness: if
// that exceeds conf; with multi_label: of the requested classes), and invalid boxes and scores of those that exceed
// their threshold.
// threshold.
namespace saccade {

/// With multi_label at most so many candidates, the best ones, are kept.
inline constexpr std::int64_t kMaxCandidates = 30000;

/// Limit of class ids: a detection's row stores its class as a float, which is exact up to here.
inline constexpr std::int64_t kMaxClasses = 1 << 24;

using Box = std::array<float, 4>;

/// The class of each class of a model's output.
class ClassRemap {
 public:
  explicit ClassRemap(const Attributes& attributes) : to_(attributes.find<std::vector<std::int64_t>>("remap")) {}
  /// -1: none.
  std::int64_t operator()(std::int64_t class_id) const {
    if (to_ == nullptr || to_->empty()) return class_id;
    return class_id < std::ssize(*to_) ? (*to_)[static_cast<std::size_t>(class_id)] : -1;
  }

 private:
  const std::vector<std::int64_t>* to_;
};

/// The score threshold of each class of a model's output: attributes conf and threshold (one per class, after remap;
/// empty: conf for all); infinity for a class without candidates.
class ClassThreshold {
 public:
  explicit ClassThreshold(const Attributes& attributes)
      : conf_(attributes.real("conf", 0.25F)),
        threshold_(attributes.find<std::vector<float>>("threshold")),
        remap_(attributes) {}
  float operator()(std::int64_t class_id) const {
    const std::int64_t named = remap_(class_id);
    if (named < 0) return INFINITY;
    return threshold_ == nullptr || named >= std::ssize(*threshold_) ? conf_
                                                                     : (*threshold_)[static_cast<std::size_t>(named)];
  }

 private:
  float conf_;
  const std::vector<float>* threshold_;
  ClassRemap remap_;
};

/// Checks that the attribute remap contains classes, or -1.
void check_remap(const Attributes& attributes);
/// Checks the attributes remap and threshold for an output of CLASSES classes.
void check_classes(const Attributes& attributes, std::int64_t classes);

/// Writes the outputs of a decoder.
class CandidateWriter {
 public:
  explicit CandidateWriter(const KernelContext& context)
      : boxes_(context.out<float>(0)),
        scores_(context.out<float>(1)),
        classes_(context.out<std::int32_t>(2)),
        anchors_(context.out<std::int32_t>(3)),
        count_(context.out<std::int32_t>(4)[0]),
        fault_bits_(context.out<std::int32_t>(5)[0]),
        remap_(context.attributes()),
        threshold_(context.attributes()) {}

  /// Whether a box with SCORE for the output's class CLASS_ID is a candidate: the score exceeds the class's threshold,
  /// the class is not ignored, and all numbers are finite. Records the faults of one that exceeds the threshold.
  bool takes(std::span<const float> box, float score, std::int32_t class_id) {
    if (!(score > threshold_(class_id))) return false;
    const Faults faults = box_faults(box);
    faults_.add(faults);
    faults_.add(confidence_faults(score));
    return std::isfinite(score) && is_finite(faults);
  }
  /// Records NaN among the examined scores, if there is one.
  void report_nan(bool there) {
    if (there) faults_.add(Fault::kNanConfidence);
  }
  /// Appends a candidate. The capacity is one per anchor (or CAP, with multi_label).
  void add(std::span<const float> box, float score, std::int32_t class_id, std::int64_t anchor) {
    if (!takes(box, score, class_id)) return;
    std::ranges::copy(box, boxes_.begin() + static_cast<std::ptrdiff_t>(box.size() * size_));
    scores_[size_] = score;
    anchors_[size_] = static_cast<std::int32_t>(anchor);
    classes_[size_++] = static_cast<std::int32_t>(remap_(class_id));
  }
  void finish() {
    std::ranges::fill(boxes_.subspan(boxes_.size() / std::max<std::size_t>(scores_.size(), 1) * size_), 0.0F);
    std::ranges::fill(scores_.subspan(size_), 0.0F);
    std::ranges::fill(classes_.subspan(size_), 0);
    std::ranges::fill(anchors_.subspan(size_), 0);
    count_ = static_cast<std::int32_t>(size_);
    fault_bits_ = to_output(faults_);
  }
  /// Scratch space until add() reaches it: entries at and after the number of candidates added.
  std::span<float> scores() { return scores_; }
  std::span<std::int32_t> classes() { return classes_; }

 private:
  std::span<float> boxes_;
  std::span<float> scores_;
  std::span<std::int32_t> classes_;
  std::span<std::int32_t> anchors_;
  std::int32_t& count_;
  std::int32_t& fault_bits_;
  ClassRemap remap_;
  ClassThreshold threshold_;
  Faults faults_;
  std::size_t size_ = 0;
};

/// The requested classes: the input's, or all; indexed by the output's class.
class ClassFilter {
 public:
  ClassFilter(const KernelContext& context, int input) : remap_(context.attributes()) {
    if (context.has(input)) allowed_ = context.in<bool>(input);
  }
  bool allows(std::int64_t class_id) const {
    const std::int64_t named = remap_(class_id);
    return named >= 0 &&
           (allowed_.empty() || (named < std::ssize(allowed_) && allowed_[static_cast<std::size_t>(named)]));
  }

 private:
  ClassRemap remap_;
  std::span<const bool> allowed_;
};

/// Checks the prediction's type and the class filter, and sets the outputs' types; a box has BOX numbers.
void infer_candidates(InferContext& context, std::int64_t anchors, std::int64_t classes, int box = 4);

/// A decoder for multi_label: SCORE(anchor, class), BOX(anchor). Keeps the best CAP candidates in a heap of indices,
/// stored in the classes output, then writes them in the order of class and anchor.
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
      writer.report_nan(std::isnan(value));
      if (!(value > conf)) continue;
      writer.takes(box(a), value, static_cast<std::int32_t>(c));  // also reports faults of candidates that are dropped
      if (!std::isfinite(value)) continue;
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
    writer.add(box(flat % anchors), score_of(flat), static_cast<std::int32_t>(flat / anchors), flat % anchors);
  }
}

/// Corners of a box given by its centre and size.
inline Box corners(float x, float y, float width, float height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

}  // namespace saccade
