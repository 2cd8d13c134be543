#include <numbers>

#include "ops/vision/box_overlap.hpp"
#include "ops/vision/candidates.hpp"

// saccade.SelectBoxes: non-maximum suppression, then boxes in source pixels.
//
// Inputs: a decoder's boxes, scores, classes, anchors, count; saccade.Preprocess's geometry.  Boxes are [CAP, 4],
// corners, or [CAP, 5], oriented: x, y (centre), width, height, angle.
// Attributes: nms: "greedy" (a box is dropped if its overlap with a better one of its class exceeds iou), "linear" and
// "gaussian" (Soft-NMS, Bodla et al., 2017: each time a better box is selected, the score is multiplied by 1 - overlap
// if that exceeds iou, or by exp(-overlap^2 / sigma); the box is dropped once its score is not above conf), "none";
// iou, sigma, conf; agnostic (compares boxes of all classes); max_det.
// Outputs: 0 detections float32 [max_det, 4 or 5, + 2]: the box (source pixels; corners are clipped to the frame, the
// width of an oriented box is its longer side and its angle in 0..pi), score, class; in descending order of score, ties
// in the candidates' order; a box with NaN is kept and overlaps nothing; 1 count int32 [1]; 2 anchors int32 [max_det];
// 3 and 4 int32 and float32 [CAP]: scratch, placed in the arena.  Elements past the count are zero.
//
// A candidate is compared with the kept boxes only and the search ends at max_det: at most CAP * max_det overlaps.
namespace saccade {
namespace {

enum class Suppression : std::uint8_t { kGreedy, kLinear, kGaussian, kNone };

Suppression suppression(const Attributes& attributes) {
  const std::string* name = attributes.find<std::string>("nms");
  if (name == nullptr || *name == "greedy") return Suppression::kGreedy;
  if (*name == "linear") return Suppression::kLinear;
  if (*name == "gaussian") return Suppression::kGaussian;
  if (*name == "none") return Suppression::kNone;
  fail(ErrorCode::kInvalidFile, "nms is '{}', not greedy, linear, gaussian or none", *name);
}

void infer_select_boxes(InferContext& context) {
  const Shape& boxes = context.shape(0);
  if (boxes.rank() != 2 || (boxes[1] != 4 && boxes[1] != 5))
    fail(ErrorCode::kInvalidFile, "boxes are {}, not candidatesx4 or x5", boxes.to_string());
  const Shape list{boxes[0]};
  const std::array<Shape, 6> shapes = {boxes, list, list, list, Shape{1}, Shape{6}};
  const std::array types = {DType::kFloat32, DType::kFloat32, DType::kInt32,
                            DType::kInt32,   DType::kInt32,   DType::kFloat32};
  for (int i = 0; i < 6; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (context.dtype(i) != types[at] || context.shape(i) != shapes[at])
      fail(ErrorCode::kInvalidFile, "input {} is {} {}, not {} {}", i, to_string(context.dtype(i)),
           context.shape(i).to_string(), to_string(types[at]), shapes[at].to_string());
  }
  const std::int64_t max_det = context.attributes().integer("max_det", 300);
  if (max_det < 1 || max_det > kMaxCandidates)
    fail(ErrorCode::kInvalidFile, "max_det is {}; it must lie in 1..{}", max_det, kMaxCandidates);
  suppression(context.attributes());
  if (!(context.attributes().real("sigma", 0.5F) > 0)) fail(ErrorCode::kInvalidFile, "sigma is not above 0");
  context.require_outputs(5);
  context.output(0, DType::kFloat32, {max_det, boxes[1] + 2});
  context.output(1, DType::kInt32, {1});
  context.output(2, DType::kInt32, {max_det});
  context.output(3, DType::kInt32, list);
  context.output(4, DType::kFloat32, list);
}

/// Candidates in order of selection: by descending score, ties by index.
struct Better {
  std::span<const float> scores;
  bool operator()(std::int32_t a, std::int32_t b) const {
    const float left = scores[static_cast<std::size_t>(a)];
    const float right = scores[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  }
};

class Selection {
 public:
  explicit Selection(const KernelContext& context)
      : width_(static_cast<std::size_t>(context.input(0).shape[1])),
        agnostic_(context.attributes().integer("agnostic", 0) != 0),
        iou_(context.attributes().real("iou", 0.7F)),
        boxes_(context.in<float>(0)),
        classes_(context.in<std::int32_t>(2)),
        anchors_in_(context.in<std::int32_t>(3)),
        detections_(context.out<float>(0)),
        anchors_(context.out<std::int32_t>(2)),
        order_(context.out<std::int32_t>(3)),
        scores_(context.out<float>(4)) {
    std::ranges::copy(context.in<float>(1), scores_.begin());
    const auto count = static_cast<std::size_t>(std::max(context.in<std::int32_t>(4)[0], 0));
    for (std::size_t i = 0; i < std::min(order_.size(), count); ++i)
      if (std::isfinite(scores_[i])) order_[size_++] = static_cast<std::int32_t>(i);
    std::ranges::fill(order_.subspan(size_), -1);
  }

  void take_greedily(bool suppress) {
    std::ranges::sort(order_.first(size_), Better{scores_});
    for (std::size_t i = 0; i < std::min<std::size_t>(size_, kMaxCandidates) && kept_ < capacity(); ++i) {
      const auto candidate = static_cast<std::size_t>(order_[i]);
      bool dropped = false;
      for (std::size_t k = 0; suppress && k < kept_ && !dropped; ++k)
        dropped = competes(k, candidate) && overlap(row(k), box(candidate)) > iou_;
      if (!dropped) keep(candidate);
    }
  }

  void take_softly(bool gaussian, float sigma, float conf) {
    for (std::size_t i = 0; i < size_ && kept_ < capacity(); ++i) {
      std::iter_swap(order_.begin() + static_cast<std::ptrdiff_t>(i),
                     std::ranges::min_element(order_.subspan(i, size_ - i), Better{scores_}));
      const auto best = static_cast<std::size_t>(order_[i]);
      if (!(scores_[best] > conf)) break;
      keep(best);
      for (std::int32_t other : order_.subspan(i + 1, size_ - i - 1)) {
        const auto candidate = static_cast<std::size_t>(other);
        if (!competes(kept_ - 1, candidate)) continue;
        const float common = overlap(row(kept_ - 1), box(candidate));
        if (gaussian)
          scores_[candidate] *= std::exp(-common * common / sigma);
        else if (common > iou_)
          scores_[candidate] *= 1 - common;
      }
    }
  }

  std::size_t finish(std::span<const float> geometry) {
    for (std::size_t k = 0; k < kept_; ++k)
      width_ == 4 ? to_source(row(k), geometry) : turned_to_source(row(k), geometry);
    std::ranges::fill(detections_.subspan(kept_ * (width_ + 2)), 0.0F);
    std::ranges::fill(anchors_.subspan(kept_), 0);
    return kept_;
  }

 private:
  std::size_t capacity() const { return anchors_.size(); }
  const float* box(std::size_t candidate) const { return &boxes_[width_ * candidate]; }
  float* row(std::size_t k) const { return &detections_[k * (width_ + 2)]; }
  bool competes(std::size_t k, std::size_t candidate) const {
    return agnostic_ || row(k)[width_ + 1] == static_cast<float>(classes_[candidate]);
  }
  float overlap(const float* a, const float* b) const {
    return width_ == 4 ? box_overlap(a, b) : oriented_overlap(a, b);
  }

  void keep(std::size_t candidate) {
    float* to = row(kept_);
    std::copy_n(box(candidate), width_, to);
    to[width_] = scores_[candidate];
    to[width_ + 1] = static_cast<float>(classes_[candidate]);
    anchors_[kept_++] = anchors_in_[candidate];
  }

  static void to_source(float* box, std::span<const float> geometry) {
    for (std::size_t i = 0; i < 4; ++i)
      box[i] = std::clamp((box[i] - geometry[2 + i % 2]) / geometry[i % 2], 0.0F, geometry[4 + i % 2]);
  }

  /// Scales the box's sides as vectors, each axis by its own scale; if the scales differ, the result is the nearest
  /// box.
  static void turned_to_source(float* box, std::span<const float> geometry) {
    const float cosine = std::cos(box[4]);
    const float sine = std::sin(box[4]);
    for (std::size_t i = 0; i < 2; ++i) box[i] = (box[i] - geometry[2 + i]) / geometry[i];
    const float x = box[2] * cosine / geometry[0];
    const float y = box[2] * sine / geometry[1];
    float angle = std::atan2(y, x);
    box[2] = std::hypot(x, y);
    box[3] = std::hypot(box[3] * sine / geometry[0], box[3] * cosine / geometry[1]);
    if (box[2] < box[3]) {
      std::swap(box[2], box[3]);
      angle += std::numbers::pi_v<float> / 2;
    }
    angle = std::fmod(angle, std::numbers::pi_v<float>);
    box[4] = angle < 0 ? angle + std::numbers::pi_v<float> : angle;
  }

  std::size_t width_;  ///< numbers per box
  bool agnostic_;
  float iou_;
  std::span<const float> boxes_;
  std::span<const std::int32_t> classes_;
  std::span<const std::int32_t> anchors_in_;
  std::span<float> detections_;
  std::span<std::int32_t> anchors_;
  std::span<std::int32_t> order_;
  std::span<float> scores_;
  std::size_t size_ = 0;  ///< candidates with a finite score
  std::size_t kept_ = 0;
};

void reference_select_boxes(const KernelContext& context) {
  const Attributes& attributes = context.attributes();
  Selection selection(context);
  const Suppression way = suppression(attributes);
  if (way == Suppression::kLinear || way == Suppression::kGaussian)
    selection.take_softly(way == Suppression::kGaussian, attributes.real("sigma", 0.5F), attributes.real("conf", 0));
  else
    selection.take_greedily(way == Suppression::kGreedy);
  context.out<std::int32_t>(1)[0] = static_cast<std::int32_t>(selection.finish(context.in<float>(5)));
}

constexpr OpTraits kSelectBoxesTraits{.arity = {6, 6}, .cost = {.per = CostPer::kNothing}, .reads = Reads::kIndexed};

constexpr Op kSelectBoxesOps[] = {
    {"saccade", "SelectBoxes", infer_select_boxes, reference_select_boxes, kSelectBoxesTraits}};

}  // namespace

std::span<const Op> select_boxes_ops() { return kSelectBoxesOps; }

}  // namespace saccade
