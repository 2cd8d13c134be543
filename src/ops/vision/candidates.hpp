#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/core/op.hpp"
#include "ops/vision/faults.hpp"

// What the decoders of detection models share.  A decoder turns a model's output into candidates, outputs 0 to 5:
// boxes float32 [CAP, 4] (corners in the model's pixels; [CAP, 5] where they are turned), scores float32 [CAP], classes
// int32 [CAP], anchors int32 [CAP] (the row or column of the model's output that each comes from), count int32 [1];
// what lies past the count is zero; faults int32 [1], the bits of Faults.  Input 1, optional, is bool [classes]: those
// asked for.  Attributes: conf (candidates have more); threshold (floats, optional: one a class, not below conf,
// instead of it); remap (ints, optional: the class that each of the output's is; -1: no candidate); multi_label (a
// candidate for every class above conf, not for an anchor's best one alone).  Scores and boxes that are not finite make
// no candidate, but a fault: NaN among the scores of all classes (with an objectness: where that exceeds conf; with
// multi_label: of the classes asked for), and what is wrong with the box and the score of those that exceed their
// threshold.
namespace saccade {

/// With multi_label at most so many candidates, the best ones, are kept.
inline constexpr std::int64_t kMaxCandidates = 30000;

/// Classes are below: a detection's row holds its class as a float, which is exact that far.
inline constexpr std::int64_t kMaxClasses = 1 << 24;

using Box = std::array<float, 4>;

/// The class that each of a model's output is.
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

/// What the score of each of a model's output's classes must exceed: attributes conf and threshold (one a class, after
/// remap; empty: conf for all); infinity for a class that is left out.
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

/// Checks that the attribute remap holds classes, or -1.
void check_remap(const Attributes& attributes);
/// Checks the attributes remap and threshold for an output of so many CLASSES.
void check_classes(const Attributes& attributes, std::int64_t classes);

/// The outputs of a decoder, being filled.
class CandidateWriter {
 public:
  explicit CandidateWriter(const KernelContext& context)
      : boxes_(context.out<float>(0)),
        scores_(context.out<float>(1)),
        classes_(context.out<std::int32_t>(2)),
        anchors_(context.out<std::int32_t>(3)),
        count_(context.out<std::int32_t>(4)[0]),
        told_(context.out<std::int32_t>(5)[0]),
        remap_(context.attributes()),
        threshold_(context.attributes()) {}

  /// Whether a box of SCORE, of the output's class CLASS_ID, is a candidate: it exceeds the class's threshold, the
  /// class is not left out, and all numbers are finite. Keeps what is wrong with one that exceeds it.
  bool takes(std::span<const float> box, float score, std::int32_t class_id) {
    if (!(score > threshold_(class_id))) return false;
    const Faults faults = box_faults(box);
    faults_.add(faults);
    faults_.add(confidence_faults(score));
    return std::isfinite(score) && is_finite(faults);
  }
  /// A NaN among the scores that were looked at, where THERE is one.
  void tell_nan(bool there) {
    if (there) faults_.add(Fault::kNanConfidence);
  }
  /// Appends what is a candidate. There is room for one an anchor (or CAP, with multi_label).
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
    told_ = to_output(faults_);
  }
  /// Room to work in until add() has come as far: entries at and after the number of candidates added.
  std::span<float> scores() { return scores_; }
  std::span<std::int32_t> classes() { return classes_; }

 private:
  std::span<float> boxes_;
  std::span<float> scores_;
  std::span<std::int32_t> classes_;
  std::span<std::int32_t> anchors_;
  std::int32_t& count_;
  std::int32_t& told_;
  ClassRemap remap_;
  ClassThreshold threshold_;
  Faults faults_;
  std::size_t size_ = 0;
};

/// The classes asked for: the input's, or all; asked by the output's class.
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

/// Checks the prediction's type and the class filter, and sets the outputs' types; BOX numbers make a box.
void infer_candidates(InferContext& context, std::int64_t anchors, std::int64_t classes, int box = 4);

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
      writer.tell_nan(std::isnan(value));
      if (!(value > conf)) continue;
      writer.takes(box(a), value, static_cast<std::int32_t>(c));  // told of those too that find no room
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
