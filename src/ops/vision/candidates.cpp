#include "ops/vision/candidates.hpp"

#include <limits>

namespace saccade {

void check_remap(const Attributes& attributes) {
  const auto* remap = attributes.find<std::vector<std::int64_t>>("remap");
  if (remap == nullptr) return;
  for (std::int64_t to : *remap)
    if (to < -1 || to >= kMaxClasses)
      fail(ErrorCode::kInvalidFile, "a class is mapped to {}; it must lie in -1..{}", to, kMaxClasses - 1);
}

void check_classes(const Attributes& attributes, std::int64_t classes) {
  if (classes > kMaxClasses)
    fail(ErrorCode::kUnsupported, "{} classes are too many; the limit is {}", classes, kMaxClasses);
  check_remap(attributes);
  const auto* remap = attributes.find<std::vector<std::int64_t>>("remap");
  if (remap != nullptr && !remap->empty()) {
    if (std::ssize(*remap) != classes)
      fail(ErrorCode::kInvalidFile, "{} classes are mapped, but there are {}", remap->size(), classes);
    classes = std::ranges::max(*remap) + 1;
  }
  const auto* threshold = attributes.find<std::vector<float>>("threshold");
  if (threshold != nullptr && !threshold->empty() && std::ssize(*threshold) < classes)
    fail(ErrorCode::kInvalidFile, "{} thresholds for {} classes", threshold->size(), classes);
}

void infer_candidates(InferContext& context, std::int64_t anchors, std::int64_t classes, int box) {
  if (context.dtype(0) != DType::kFloat32)
    fail(ErrorCode::kInvalidFile, "predictions are {}, not float32", to_string(context.dtype(0)));
  context.require_outputs(6);
  check_remap(context.attributes());
  if (context.has(1) && (context.dtype(1) != DType::kBool || context.shape(1).rank() != 1))
    fail(ErrorCode::kInvalidFile, "the requested classes are {} {}, not bool [classes]", to_string(context.dtype(1)),
         context.shape(1).to_string());
  std::int64_t pairs = 0;
  if (__builtin_mul_overflow(anchors, classes, &pairs) || pairs > std::numeric_limits<std::int32_t>::max())
    fail(ErrorCode::kUnsupported, "{} anchors of {} classes are too many", anchors, classes);
  const bool multi_label = context.attributes().integer("multi_label", 0) != 0;
  const std::int64_t capacity = multi_label ? std::min(pairs, kMaxCandidates) : anchors;
  context.output(0, DType::kFloat32, {capacity, box});
  context.output(1, DType::kFloat32, {capacity});
  context.output(2, DType::kInt32, {capacity});
  context.output(3, DType::kInt32, {capacity});
  context.output(4, DType::kInt32, {1});
  context.output(5, DType::kInt32, {1});
}

}  // namespace saccade
