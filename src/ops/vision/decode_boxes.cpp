#include "ops/vision/candidates.hpp"

// saccade.DecodeBoxes: boxes and class scores to candidates (candidates.hpp).  The last step of decoders that compute
// boxes and scores with ONNX operators.
//
// Input 0: boxes float32 [1, A, 4], corners in model pixels, or [1, A, 5], oriented (x, y, width, height, angle: the
// candidates' boxes are [CAP, 5] then).  Input 1 (optional): the requested classes.  Input 2: scores float32 [1, A, C].
// Attribute: threshold (floats, one per class, after remap; empty: conf for all).
namespace saccade {
namespace {

void infer_decode_boxes(InferContext& context) {
  const Shape& boxes = context.shape(0);
  const Shape& scores = context.shape(2);
  if (boxes.rank() != 3 || boxes[0] != 1 || (boxes[2] != 4 && boxes[2] != 5))
    fail(ErrorCode::kInvalidFile, "boxes are {}, not 1xanchorsx4 or x5", boxes.to_string());
  if (context.dtype(2) != DType::kFloat32 || scores.rank() != 3 || scores[0] != 1 || scores[1] != boxes[1] ||
      scores[2] < 1)
    fail(ErrorCode::kInvalidFile, "scores are {} {}, not float32 1x{}xclasses", to_string(context.dtype(2)),
         scores.to_string(), boxes[1]);
  check_classes(context.attributes(), scores[2]);
  infer_candidates(context, boxes[1], scores[2], static_cast<int>(boxes[2]));
}

void reference_decode_boxes(const KernelContext& context) {
  const Shape& shape = context.input(2).shape;
  const std::int64_t classes = shape[2];
  const std::int64_t width = context.input(0).shape[2];
  const float conf = context.attributes().real("conf", 0.25F);
  const ClassFilter filter(context, 1);
  const float* scores = context.in<float>(2).data();
  const auto box = [&](std::int64_t a) {
    return context.in<float>(0).subspan(static_cast<std::size_t>(a * width), static_cast<std::size_t>(width));
  };
  CandidateWriter writer(context);
  if (context.attributes().integer("multi_label", 0) != 0) {
    const auto score = [&](std::int64_t a, std::int64_t c) { return scores[a * classes + c]; };
    decode_multi_label(writer, shape[1], classes, conf, filter, score, box);
  } else {
    for (std::int64_t a = 0; a < shape[1]; ++a) {
      const float* row = scores + a * classes;
      std::int64_t best = -1;
      bool nan = false;
      for (std::int64_t c = 0; c < classes; ++c) {
        nan |= std::isnan(row[c]);
        if (!std::isnan(row[c]) && (best < 0 || row[c] > row[best])) best = c;
      }
      writer.report_nan(nan);
      if (best >= 0 && row[best] > conf && filter.allows(best))
        writer.add(box(a), row[best], static_cast<std::int32_t>(best), a);
    }
  }
  writer.finish();
}

constexpr OpTraits kDecodeBoxesTraits{.arity = {3, 3}, .cost = {.per = CostPer::kNothing}, .reads = Reads::kIndexed};

constexpr Op kDecodeBoxesOps[] = {
    {"saccade", "DecodeBoxes", infer_decode_boxes, reference_decode_boxes, kDecodeBoxesTraits}};

}  // namespace

std::span<const Op> decode_boxes_ops() { return kDecodeBoxesOps; }

}  // namespace saccade
