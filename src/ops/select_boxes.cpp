#include "ops/candidates.hpp"

// saccade.SelectBoxes: greedy non-maximum suppression, then boxes in source pixels.
//
// Inputs: a decoder's boxes, scores, classes, count; saccade.Preprocess's geometry.  Attributes: iou (a box is dropped
// when it overlaps a better one of its class by more), max_det, agnostic (of any class).
// Outputs: 0 detections float32 [max_det, 6], rows x1, y1, x2, y2 (source pixels, clipped to the frame), score, class,
// by falling score, ties in the candidates' order, zero past the count; 1 count int32 [1]; 2 int32 [CAP]: room for the
// sorted order, so that it lies in the arena like everything else.
//
// A candidate is compared with the kept boxes alone and the search ends at max_det: at most CAP * max_det overlaps.
namespace saccade {
namespace {

constexpr std::size_t kRow = 6;

void infer(InferContext& context) {
  const Shape& boxes = context.shape(0);
  if (boxes.rank() != 2 || boxes[1] != 4)
    fail(ErrorCode::kInvalidFile, "boxes are {}, not candidatesx4", boxes.to_string());
  const Shape list{boxes[0]};
  if (context.shape(1) != list || context.shape(2) != list || context.shape(3) != Shape{1} ||
      context.shape(4) != Shape{6})
    fail(ErrorCode::kInvalidFile, "scores, classes, count and geometry are {}, {}, {} and {}, not {}, {}, 1 and 6",
         context.shape(1).to_string(), context.shape(2).to_string(), context.shape(3).to_string(),
         context.shape(4).to_string(), boxes[0], boxes[0]);
  const std::array types = {DType::kFloat32, DType::kFloat32, DType::kInt32, DType::kInt32, DType::kFloat32};
  for (int i = 0; i < 5; ++i)
    if (context.dtype(i) != types[static_cast<std::size_t>(i)])
      fail(ErrorCode::kInvalidFile, "input {} is {}", i, to_string(context.dtype(i)));
  const std::int64_t max_det = context.attributes().integer("max_det", 300);
  if (max_det < 1 || max_det > kMaxCandidates)
    fail(ErrorCode::kInvalidFile, "max_det is {}; it must lie in 1..{}", max_det, kMaxCandidates);
  if (context.output_count() != 3) fail(ErrorCode::kInvalidFile, "{} outputs, not 3", context.output_count());
  context.output(0, DType::kFloat32, {max_det, static_cast<std::int64_t>(kRow)});
  context.output(1, DType::kInt32, {1});
  context.output(2, DType::kInt32, list);
}

/// Candidates with a finite score, by falling score; the number of them. The rest of ORDER is -1.
std::size_t sort_candidates(std::span<const float> scores, std::int32_t count, std::span<std::int32_t> order) {
  const auto candidates = std::min(order.size(), static_cast<std::size_t>(std::max(count, 0)));
  std::size_t size = 0;
  for (std::size_t i = 0; i < candidates; ++i)
    if (std::isfinite(scores[i])) order[size++] = static_cast<std::int32_t>(i);
  std::ranges::sort(order.first(size), [&](std::int32_t a, std::int32_t b) {
    const float left = scores[static_cast<std::size_t>(a)];
    const float right = scores[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  });
  std::ranges::fill(order.subspan(size), -1);
  return size;
}

float overlap(const float* a, const float* b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const float common = width * height;
  return common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
}

void to_source(float* box, std::span<const float> geometry) {
  for (std::size_t i = 0; i < 4; ++i)
    box[i] = std::clamp((box[i] - geometry[2 + i % 2]) / geometry[i % 2], 0.0F, geometry[4 + i % 2]);
}

void reference(const KernelContext& context) {
  const float iou = context.attributes().real("iou", 0.7F);
  const bool agnostic = context.attributes().integer("agnostic", 0) != 0;
  const std::span<const float> boxes = context.in<float>(0);
  const std::span<const float> scores = context.in<float>(1);
  const std::span<const std::int32_t> classes = context.in<std::int32_t>(2);
  const std::span<float> detections = context.out<float>(0);
  const std::span<std::int32_t> order = context.out<std::int32_t>(2);
  const std::size_t sorted = sort_candidates(scores, context.in<std::int32_t>(3)[0], order);
  const std::size_t capacity = detections.size() / kRow;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(sorted, kMaxCandidates) && kept < capacity; ++i) {
    const auto candidate = static_cast<std::size_t>(order[i]);
    const float* box = &boxes[4 * candidate];
    const auto class_id = static_cast<float>(classes[candidate]);
    const auto suppresses = [&](const float* row) {
      return (agnostic || row[5] == class_id) && overlap(row, box) > iou;
    };
    bool dropped = false;
    for (std::size_t k = 0; k < kept && !dropped; ++k) dropped = suppresses(&detections[k * kRow]);
    if (dropped) continue;
    float* row = &detections[kept++ * kRow];
    std::copy_n(box, 4, row);
    row[4] = scores[candidate];
    row[5] = class_id;
  }
  for (std::size_t k = 0; k < kept; ++k) to_source(&detections[k * kRow], context.in<float>(4));
  std::ranges::fill(detections.subspan(kept * kRow), 0.0F);
  context.out<std::int32_t>(1)[0] = static_cast<std::int32_t>(kept);
}

constexpr Op kOps[] = {{"saccade", "SelectBoxes", infer, reference}};

}  // namespace

std::span<const Op> select_boxes_ops() { return kOps; }

}  // namespace saccade
