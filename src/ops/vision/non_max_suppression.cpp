#include <algorithm>
#include <array>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// NonMaxSuppression of contents known when the graph is built: otherwise the number of kept boxes depends on the data,
// and shapes are static.
//
// Inputs: boxes float32 [N, B, 4], scores float32 [N, C, B], the maximum number of boxes per class (0 if omitted), the
// IoU threshold, the score threshold. Output: int64 [kept, 3], rows of image, class and box; within a class in
// descending order of score, ties in the boxes' order.
namespace saccade {
namespace {

/// Corners in order: left, top, right, bottom (a box given as y1, x1, y2, x2 is transposed, which changes no area).
using Corners = std::array<float, 4>;

Corners corners_of(const float* box, bool centered) {
  if (centered) return {box[0] - box[2] / 2, box[1] - box[3] / 2, box[0] + box[2] / 2, box[1] + box[3] / 2};
  return {std::min(box[0], box[2]), std::min(box[1], box[3]), std::max(box[0], box[2]), std::max(box[1], box[3])};
}

/// Intersection over union; 0 if one of them has no area.
float overlap(const Corners& a, const Corners& b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  const float left = (a[2] - a[0]) * (a[3] - a[1]);
  const float right = (b[2] - b[0]) * (b[3] - b[1]);
  if (!(width > 0 && height > 0 && left > 0 && right > 0)) return 0;
  const float common = width * height;
  return common / (left + right - common);
}

struct Limits {
  std::size_t per_class = 0;
  float iou = 0;
  const float* score = nullptr;  ///< null if every box is a candidate
  bool centered = false;
};

/// The kept boxes of one image and class.
std::vector<std::size_t> select(std::span<const float> boxes, std::span<const float> scores, const Limits& limits) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (limits.score == nullptr || scores[i] > *limits.score) order.push_back(i);
  // NaN cannot be sorted: such a box comes last.
  const auto better = [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[a] && scores[b] != scores[b]);
  };
  std::ranges::stable_sort(order, better);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < order.size() && kept.size() < limits.per_class; ++i) {
    const Corners box = corners_of(&boxes[4 * order[i]], limits.centered);
    const auto covers = [&](std::size_t k) {
      return overlap(corners_of(&boxes[4 * k], limits.centered), box) > limits.iou;
    };
    if (std::ranges::none_of(kept, covers)) kept.push_back(order[i]);
  }
  return kept;
}

template <typename T>
const T* scalar(const TensorView& view) {
  return view.data == nullptr || view.elements() == 0 ? nullptr : view.as<const T>().data();
}

/// All rows of the output.
std::vector<std::int64_t> select_all(std::span<const TensorView> inputs, const Attributes& attributes) {
  const auto boxes = inputs[0].as<const float>();
  const auto scores = inputs[1].as<const float>();
  const Shape& shape = inputs[1].shape;
  const auto at = [&](std::size_t i) { return i < inputs.size() ? inputs[i] : TensorView{}; };
  Limits limits{.score = scalar<float>(at(4)), .centered = attributes.integer("center_point_box", 0) != 0};
  if (const auto* most = scalar<std::int64_t>(at(2)))
    limits.per_class = static_cast<std::size_t>(std::max<std::int64_t>(*most, 0));
  if (const auto* iou = scalar<float>(at(3))) limits.iou = *iou;
  const auto count = static_cast<std::size_t>(shape[2]);
  std::vector<std::int64_t> rows;
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    for (std::int64_t group = 0; group < shape[1]; ++group) {
      const auto first = static_cast<std::size_t>(image * shape[1] + group) * count;
      const auto own = boxes.subspan(4 * static_cast<std::size_t>(image) * count, 4 * count);
      for (const std::size_t box : select(own, scores.subspan(first, count), limits))
        rows.insert(rows.end(), {image, group, static_cast<std::int64_t>(box)});
    }
  }
  return rows;
}

void check_inputs(const InferContext& context) {
  require_type<float>(context.dtype(0), "boxes");
  require_type<float>(context.dtype(1), "scores");
  const Shape& boxes = context.shape(0);
  const Shape& scores = context.shape(1);
  if (boxes.rank() != 3 || scores.rank() != 3 || boxes[2] != 4 || boxes[0] != scores[0] || boxes[1] != scores[2])
    fail(ErrorCode::kInvalidFile, "boxes {} and scores {} are not NxBx4 and NxCxB", boxes.to_string(),
         scores.to_string());
  for (int i = 2; i < 5; ++i) {
    if (!context.has(i)) continue;
    if (context.dtype(i) != (i == 2 ? DType::kInt64 : DType::kFloat32))
      fail(ErrorCode::kInvalidFile, "input {} is {}", i, to_string(context.dtype(i)));
    if (context.shape(i).elements() > 1)
      fail(ErrorCode::kInvalidFile, "input {} of shape {} is not one number", i, context.shape(i).to_string());
  }
}

void infer_non_max_suppression(InferContext& context) {
  check_inputs(context);
  std::vector<TensorView> inputs(5);
  for (int i = 0; i < std::min(context.input_count(), 5); ++i) {
    if (!context.has(i)) continue;
    const Tensor* known = context.known(i);
    if (known == nullptr)
      fail(ErrorCode::kUnsupported,
           "the number of boxes that it keeps depends on the data; export the model without its non-maximum "
           "suppression");
    inputs[static_cast<std::size_t>(i)] = view_of(*known);
  }
  // Every box may have to be compared with every kept one.
  const Shape& scores = context.shape(1);
  if (!context.afford(static_cast<double>(scores.elements()) * static_cast<double>(scores[2])))
    fail(ErrorCode::kUnsupported, "{} scores are too many to choose among when the graph is built", scores.to_string());
  const auto rows = std::ssize(select_all(inputs, context.attributes())) / 3;
  context.output(0, DType::kInt64, {rows, 3});
}

void reference_non_max_suppression(const KernelContext& context) {
  std::vector<TensorView> inputs;
  for (int i = 0; i < context.input_count(); ++i) inputs.push_back(context.input(i));
  const auto rows = select_all(inputs, context.attributes());
  const auto to = context.out<std::int64_t>();
  SACCADE_ASSERT(rows.size() == to.size());
  std::ranges::copy(rows, to.begin());
}

constexpr OpTraits kNonMaxSuppressionTraits{.arity = {2, 5}, .rows = {{{RowCount::By::kData}}}};

constexpr Op kNonMaxSuppressionOps[] = {
    {"", "NonMaxSuppression", infer_non_max_suppression, reference_non_max_suppression, kNonMaxSuppressionTraits}};

}  // namespace

std::span<const Op> non_max_suppression_ops() { return kNonMaxSuppressionOps; }

}  // namespace saccade
