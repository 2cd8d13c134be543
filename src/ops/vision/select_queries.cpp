#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/vision/candidates.hpp"
#include "ops/vision/portable_math.hpp"

// saccade.SelectQueries: selects a transformer's queries that are objects, as in RF-DETR's post-processing.
//
// Inputs: boxes float32 [1, Q, 4] (centre x, y, width, height, normalized to the model's input image); the requested
// classes, bool [classes] (optional); logits float32 [1, Q, C]; saccade.Preprocess's geometry.
// Attributes: conf; threshold (floats, one per class; empty: conf for all); remap (ints, optional); stretch (1: the
// image is the whole frame, stretched); width, height (of the model's input image); max_det.
// Outputs: 0 detections float32 [N, 6], rows x1, y1, x2, y2, score, class, N being min(max_det, Q); 1 count int32 [1];
// 2 queries int32 [N]; 3 faults int32 [1], the bits of Faults. Elements past the count are zero.
//
// The steps, each rounded to fp32 in the given order, so that devices are bit-identical:
//   1. p[q][c] = 1 / (1 + exp(-logit)), by portable_sigmoid()
//   2. c(q) = the first class with the greatest p; NaN is never the greatest, but a fault
//   3. class = remap[c]; the query is dropped if it is -1 or not requested
//   4. score = p[q][c(q)]; the query is dropped unless score > threshold[class]
//   5. x1 = x - w * 0.5, y1 = y - h * 0.5, x2 = x + w * 0.5, y2 = y + h * 0.5; dropped if one is not finite, which
//      is a fault, as is x2 < x1 or y2 < y1
//   6. times the frame's width or height (stretch); else (v * width - offset) / scale by the geometry
//   7. clipped to 0..frame width or height
//   8. rounded to integer pixels, half to even
//   9. kept in the order of the queries; of more than N the N with the highest scores, ties in the queries' order
namespace saccade {
namespace {

void infer_select_queries(InferContext& context) {
  const Shape& boxes = context.shape(0);
  const Shape& logits = context.shape(2);
  if (context.dtype(0) != DType::kFloat32 || boxes.rank() != 3 || boxes[0] != 1 || boxes[2] != 4)
    fail(ErrorCode::kInvalidFile, "boxes are {} {}, not float32 1xqueriesx4", to_string(context.dtype(0)),
         boxes.to_string());
  if (context.dtype(2) != DType::kFloat32 || logits.rank() != 3 || logits[0] != 1 || logits[1] != boxes[1] ||
      logits[2] < 1)
    fail(ErrorCode::kInvalidFile, "logits are {} {}, not float32 1x{}xclasses", to_string(context.dtype(2)),
         logits.to_string(), boxes[1]);
  if (context.dtype(3) != DType::kFloat32 || context.shape(3) != Shape{6})
    fail(ErrorCode::kInvalidFile, "the geometry is {} {}, not float32 6", to_string(context.dtype(3)),
         context.shape(3).to_string());
  const Attributes& attributes = context.attributes();
  if (context.has(1) && (context.dtype(1) != DType::kBool || context.shape(1).rank() != 1))
    fail(ErrorCode::kInvalidFile, "the requested classes are {} {}, not bool [classes]", to_string(context.dtype(1)),
         context.shape(1).to_string());
  check_classes(attributes, logits[2]);
  if (boxes[1] > std::numeric_limits<std::int32_t>::max())
    fail(ErrorCode::kUnsupported, "{} queries are too many", boxes[1]);
  const std::int64_t max_det = attributes.integer("max_det", 300);
  if (max_det < 1 || attributes.integer("width", 0) < 1 || attributes.integer("height", 0) < 1)
    fail(ErrorCode::kInvalidFile, "max_det, width and height must be above 0");
  context.require_outputs(4);
  const std::int64_t most = std::min(max_det, boxes[1]);
  context.output(0, DType::kFloat32, {most, 6});
  context.output(1, DType::kInt32, {1});
  context.output(2, DType::kInt32, {most});
  context.output(3, DType::kInt32, {1});
}

/// Writes objects into the outputs and, once they are full, over the weakest.
class Survivors {
 public:
  explicit Survivors(const KernelContext& context)
      : rows_(context.out<float>(0)), queries_(context.out<std::int32_t>(2)) {}

  void add(const Box& box, float score, std::int64_t class_id, std::int64_t query) {
    if (size_ == queries_.size() && !evict_weakest(score)) return;
    float* row = &rows_[6 * size_];
    std::ranges::copy(box, row);
    row[4] = score;
    row[5] = static_cast<float>(class_id);
    queries_[size_++] = static_cast<std::int32_t>(query);
  }
  std::int32_t finish() {
    std::ranges::fill(rows_.subspan(6 * size_), 0.0F);
    std::ranges::fill(queries_.subspan(size_), 0);
    return static_cast<std::int32_t>(size_);
  }

 private:
  /// Removes the last of the weakest if a later query is stronger.
  bool evict_weakest(float score) {
    std::size_t weakest = 0;
    for (std::size_t i = 1; i < size_; ++i)
      if (rows_[6 * i + 4] <= rows_[6 * weakest + 4]) weakest = i;
    if (size_ == 0 || !(score > rows_[6 * weakest + 4])) return false;
    const auto from = static_cast<std::ptrdiff_t>(weakest);
    std::copy(rows_.begin() + 6 * (from + 1), rows_.end(), rows_.begin() + 6 * from);
    std::copy(queries_.begin() + from + 1, queries_.end(), queries_.begin() + from);
    --size_;
    return true;
  }

  std::span<float> rows_;
  std::span<std::int32_t> queries_;
  std::size_t size_ = 0;
};

/// Steps 5 to 8.
class ToFrame {
 public:
  explicit ToFrame(const KernelContext& context)
      : geometry_(context.in<float>(3)),
        stretch_(context.attributes().integer("stretch", 0) != 0),
        size_{static_cast<float>(context.attributes().integer("width", 0)),
              static_cast<float>(context.attributes().integer("height", 0))} {}

  /// Step 5.
  static Box corners_of(const float* box) {
    const float half_width = box[2] * 0.5F;
    const float half_height = box[3] * 0.5F;
    return {box[0] - half_width, box[1] - half_height, box[0] + half_width, box[1] + half_height};
  }
  /// The other steps, for finite EDGES.
  Box operator()(Box edges) const {
    for (std::size_t i = 0; i < 4; ++i) edges[i] = pixel(edges[i], i % 2);
    return edges;
  }

 private:
  float pixel(float share, std::size_t axis) const {
    const float frame = geometry_[4 + axis];
    const float at = stretch_ ? share * frame : (share * size_[axis] - geometry_[2 + axis]) / geometry_[axis];
    return std::nearbyint(std::clamp(at, 0.0F, frame));
  }

  std::span<const float> geometry_;
  bool stretch_;
  std::array<float, 2> size_;
};

void reference_select_queries(const KernelContext& context) {
  const std::int64_t queries = context.input(2).shape[1];
  const std::int64_t classes = context.input(2).shape[2];
  const float* logits = context.in<float>(2).data();
  const ClassFilter filter(context, 1);
  const ClassRemap remap(context.attributes());
  const ClassThreshold threshold(context.attributes());
  const ToFrame to_frame(context);
  Survivors survivors(context);
  Faults faults;
  for (std::int64_t q = 0; q < queries; ++q, logits += classes) {
    std::int64_t best = -1;
    float score = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      const float p = portable_sigmoid(logits[c]);
      if (std::isnan(p)) faults.add(Fault::kNanConfidence);
      if (std::isnan(p) || (best >= 0 && p <= score)) continue;
      best = c;
      score = p;
    }
    if (best < 0 || !filter.allows(best) || !(score > threshold(best))) continue;
    const Box box = to_frame.corners_of(context.in<float>(0).data() + 4 * q);
    const Faults its = box_faults(box);
    faults.add(its);
    if (is_finite(its)) survivors.add(to_frame(box), score, remap(best), q);
  }
  context.out<std::int32_t>(3)[0] = to_output(faults);
  context.out<std::int32_t>(1)[0] = survivors.finish();
}

constexpr OpTraits kSelectQueriesTraits{.arity = {4, 4}, .cost = {.per = CostPer::kNothing}, .reads = Reads::kIndexed};

constexpr Op kSelectQueriesOps[] = {
    {"saccade", "SelectQueries", infer_select_queries, reference_select_queries, kSelectQueriesTraits}};

}  // namespace

std::span<const Op> select_queries_ops() { return kSelectQueriesOps; }

}  // namespace saccade
