#include <cmath>
#include <limits>

#include "ops/core/op.hpp"

// saccade.MapClasses: the best class of every cell.
//
// Input: float32 [1, C, h, w].  Output: int32 [h, w]; the first class among equal scores, -1 if one is NaN.  With one
// channel: 1 if it exceeds the attribute `threshold` (0), else 0; -1 if it is NaN.
namespace saccade {
namespace {

void infer_map_classes(InferContext& context) {
  const Shape& scores = context.shape(0);
  if (context.dtype(0) != DType::kFloat32 || scores.rank() != 4 || scores[0] != 1 || scores[1] < 1)
    fail(ErrorCode::kInvalidFile, "scores are {} {}, not float32 1xclassesxheightxwidth", to_string(context.dtype(0)),
         scores.to_string());
  context.output(0, DType::kInt32, {scores[2], scores[3]});
}

/// Processes the image in pieces, so that their best scores stay in L1d. A NaN becomes the best, and nothing exceeds
/// it.
constexpr std::size_t kPiece = 2048;

void best_classes(const float* scores, std::size_t plane, std::int32_t classes, std::span<std::int32_t> chosen) {
  std::array<float, kPiece> best{};
  std::ranges::fill(best, -std::numeric_limits<float>::infinity());
  std::ranges::fill(chosen, 0);
  for (std::int32_t c = 0; c < classes; ++c, scores += plane) {
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const bool wins = scores[i] > best[i];
      best[i] = wins || std::isnan(scores[i]) ? scores[i] : best[i];
      chosen[i] = wins ? c : chosen[i];
    }
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = std::isnan(best[i]) ? -1 : chosen[i];
}

void reference_map_classes(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const float* scores = context.in<float>(0).data();
  const std::span<std::int32_t> classes = context.out<std::int32_t>();
  if (shape[1] == 1) {
    const float threshold = context.attributes().real("threshold", 0);
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const std::int32_t chosen = scores[i] > threshold ? 1 : 0;
      classes[i] = std::isnan(scores[i]) ? -1 : chosen;
    }
    return;
  }
  for (std::size_t i = 0; i < classes.size(); i += kPiece)
    best_classes(scores + i, classes.size(), static_cast<std::int32_t>(shape[1]),
                 classes.subspan(i, std::min(kPiece, classes.size() - i)));
}

constexpr Op kMapClassesOps[] = {
    {"saccade", "MapClasses", infer_map_classes, reference_map_classes, {.cost = {.per = CostPer::kInput}}}};

}  // namespace

std::span<const Op> map_classes_ops() { return kMapClassesOps; }

}  // namespace saccade
