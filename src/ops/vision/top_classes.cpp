#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/core/op.hpp"
#include "ops/vision/faults.hpp"

// saccade.TopClasses: a classifier's best classes.
//
// Input 0: float32, C elements in any shape.  Attributes: k; softmax (1: the scores are logits); conf (probabilities
// must exceed it).  Output 0: float32 [min(k, C), 2], rows probability, class, in descending order of probability, ties
// by class.  A score that is not finite yields no row; unused rows are 0, -1.  Output 1: faults int32 [1], the bits of
// Faults: NaN among the scores, or logits whose softmax is NaN (one of +infinity, or none above -infinity); and
// probabilities beyond 0..1.  With a NaN the best class is unknown: there are no rows.
namespace saccade {
namespace {

void infer_top_classes(InferContext& context) {
  if (context.dtype(0) != DType::kFloat32)
    fail(ErrorCode::kInvalidFile, "scores are {}, not float32", to_string(context.dtype(0)));
  const std::int64_t classes = context.shape(0).elements();
  const std::int64_t k = context.attributes().integer("k", 5);
  if (classes < 1 || classes > (1 << 24) || k < 1)
    fail(ErrorCode::kInvalidFile, "the best {} of {} classes are invalid", k, classes);
  context.require_outputs(2);
  context.output(0, DType::kFloat32, {std::min(k, classes), 2});
  context.output(1, DType::kInt32, {1});
}

/// Inserts a score into rows in descending order; the last row is dropped if they are full.
void insert(std::span<float> rows, std::size_t& size, float score, float class_id) {
  const std::size_t capacity = rows.size() / 2;
  if (size == capacity && !(score > rows[2 * size - 2])) return;
  std::size_t place = size < capacity ? size++ : size - 1;
  for (; place > 0 && score > rows[2 * place - 2]; --place) {
    rows[2 * place] = rows[2 * place - 2];
    rows[2 * place + 1] = rows[2 * place - 1];
  }
  rows[2 * place] = score;
  rows[2 * place + 1] = class_id;
}

/// Faults of SCORE, a probability, or a logit of a SOFTMAX.
Faults score_faults(float score, bool softmax) {
  if (!softmax) return confidence_faults(score);
  Faults faults;
  if (!(score < std::numeric_limits<float>::infinity())) faults.add(Fault::kNanConfidence);
  return faults;
}

void reference_top_classes(const KernelContext& context) {
  const std::span<const float> scores = context.in<float>(0);
  const std::span<float> rows = context.out<float>();
  const bool softmax = context.attributes().integer("softmax", 0) != 0;
  std::size_t size = 0;
  Faults faults;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    faults.add(score_faults(scores[i], softmax));
    if (std::isfinite(scores[i])) insert(rows, size, scores[i], static_cast<float>(i));
  }
  if (softmax && size == 0) faults.add(Fault::kNanConfidence);
  context.out<std::int32_t>(1)[0] = to_output(faults);
  if (faults.has(Fault::kNanConfidence)) size = 0;
  if (softmax && size > 0) {
    const float top = rows[0];
    double sum = 0;
    for (float score : scores)
      if (std::isfinite(score)) sum += std::exp(static_cast<double>(score - top));
    for (std::size_t i = 0; i < size; ++i)
      rows[2 * i] = static_cast<float>(std::exp(static_cast<double>(rows[2 * i] - top)) / sum);
  }
  const float conf = context.attributes().real("conf", -std::numeric_limits<float>::infinity());
  while (size > 0 && !(rows[2 * size - 2] > conf)) --size;
  for (std::size_t i = size; i < rows.size() / 2; ++i) {
    rows[2 * i] = 0;
    rows[2 * i + 1] = -1;
  }
}

constexpr Op kTopClassesOps[] = {
    {"saccade", "TopClasses", infer_top_classes, reference_top_classes, {.cost = {.per = CostPer::kInput}}}};

}  // namespace

std::span<const Op> top_classes_ops() { return kTopClassesOps; }

}  // namespace saccade
