#include "ops/vision/candidates.hpp"

// saccade.DecodeYolov8: the output of YOLOv8, v11, v12 and similar models to candidates (candidates.hpp).
//
// Input 0: float32 [1, 4 + C + E, A], rows x, y, w, h (centre, model pixels), then one per class, then the inputs of
// mask and keypoint decoders.  Input 1 (optional): the requested classes.  Attribute: classes (C; 0: all rows past the
// box).
namespace saccade {
namespace {

std::int64_t class_rows(const Attributes& attributes, const Shape& shape) {
  const std::int64_t classes = attributes.integer("classes", 0);
  return classes == 0 ? shape[1] - 4 : classes;
}

void infer_decode_yolov8(InferContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.rank() != 3 || shape[0] != 1 || shape[1] < 5)
    fail(ErrorCode::kInvalidFile, "predictions are {}, not 1x(4+classes)xanchors", shape.to_string());
  const std::int64_t classes = class_rows(context.attributes(), shape);
  if (classes < 1 || classes > shape[1] - 4)
    fail(ErrorCode::kInvalidFile, "predictions are {}, which hold no {} classes", shape.to_string(), classes);
  check_classes(context.attributes(), classes);
  infer_candidates(context, shape[2], classes);
}

/// The best class of every anchor, row by row in memory order. NaN is never the best; returns whether there is one.
bool best_classes(const float* rows, std::size_t anchors, std::int32_t classes, float* best, std::int32_t* chosen) {
  std::fill_n(best, anchors, -INFINITY);
  std::fill_n(chosen, anchors, 0);
  std::int32_t nan = 0;  // as wide as the compared type, so that the loop is vectorized
  for (std::int32_t c = 0; c < classes; ++c, rows += anchors) {
    for (std::size_t a = 0; a < anchors; ++a) {
      const bool wins = rows[a] > best[a];
      best[a] = wins ? rows[a] : best[a];
      chosen[a] = wins ? c : chosen[a];
      nan |= std::isnan(rows[a]) ? 1 : 0;
    }
  }
  return nan != 0;
}

void reference_decode_yolov8(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const auto anchors = static_cast<std::size_t>(shape[2]);
  const auto classes = static_cast<std::int32_t>(class_rows(context.attributes(), shape));
  const float conf = context.attributes().real("conf", 0.25F);
  const ClassFilter filter(context, 1);
  const float* data = context.in<float>(0).data();
  const auto box = [&](std::size_t a) {
    return corners(data[a], data[anchors + a], data[2 * anchors + a], data[3 * anchors + a]);
  };
  CandidateWriter writer(context);
  if (context.attributes().integer("multi_label", 0) != 0) {
    const auto score = [&](std::int64_t a, std::int64_t c) { return data[(4 + c) * shape[2] + a]; };
    decode_multi_label(writer, shape[2], classes, conf, filter, score,
                       [&](std::int64_t a) { return box(static_cast<std::size_t>(a)); });
  } else {
    // The writer never overtakes the anchor being read, so its outputs can store the best classes meanwhile.
    const std::span<float> best = writer.scores();
    const std::span<std::int32_t> chosen = writer.classes();
    writer.report_nan(best_classes(data + 4 * anchors, anchors, classes, best.data(), chosen.data()));
    for (std::size_t a = 0; a < anchors; ++a)
      if (best[a] > conf && filter.allows(chosen[a]))
        writer.add(box(a), best[a], chosen[a], static_cast<std::int64_t>(a));
  }
  writer.finish();
}

constexpr OpTraits kDecodeYolov8Traits{.arity = {1, 2}, .cost = {.per = CostPer::kInput}};

constexpr Op kDecodeYolov8Ops[] = {
    {"saccade", "DecodeYolov8", infer_decode_yolov8, reference_decode_yolov8, kDecodeYolov8Traits}};

}  // namespace

std::span<const Op> decode_yolov8_ops() { return kDecodeYolov8Ops; }

}  // namespace saccade
