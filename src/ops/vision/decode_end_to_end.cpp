#include "ops/vision/candidates.hpp"

// saccade.DecodeEndToEnd: the output of models with built-in box selection to candidates (candidates.hpp).
//
// Input 0: float32 [1, N, 6 + E], rows x1, y1, x2, y2 (model pixels), score, class, then the inputs of mask and
// keypoint decoders.  Input 1 (optional): the requested classes.  A class that is not finite is reported as NaN among
// the scores.
namespace saccade {
namespace {

void infer_decode_end_to_end(InferContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.rank() != 3 || shape[0] != 1 || shape[2] < 6)
    fail(ErrorCode::kInvalidFile, "predictions are {}, not 1xboxesx6 or wider", shape.to_string());
  // Every row may be a candidate, and multi_label limits their number.
  if (context.attributes().integer("multi_label", 0) != 0 && shape[1] > kMaxCandidates)
    fail(ErrorCode::kUnsupported, "{} boxes are too many with multi_label; the limit is {}", shape[1], kMaxCandidates);
  infer_candidates(context, shape[1], 1);
}

void reference_decode_end_to_end(const KernelContext& context) {
  const float conf = context.attributes().real("conf", 0.25F);
  const ClassFilter filter(context, 1);
  const std::span<const float> data = context.in<float>(0);
  CandidateWriter writer(context);
  const Shape& shape = context.input(0).shape;
  for (std::int64_t i = 0; i < shape[1]; ++i) {
    const float* row = data.data() + i * shape[2];
    const float class_id = row[5];
    writer.report_nan(std::isnan(row[4]));
    if (!(row[4] > conf)) continue;
    writer.report_nan(!std::isfinite(class_id));
    if (!(class_id >= 0 && class_id < 1e6F)) continue;
    const auto chosen = static_cast<std::int32_t>(class_id);
    if (filter.allows(chosen)) writer.add({row, 4}, row[4], chosen, i);
  }
  writer.finish();
}

constexpr OpTraits kDecodeEndToEndTraits{.arity = {1, 2}, .cost = {.per = CostPer::kInput}};

constexpr Op kDecodeEndToEndOps[] = {
    {"saccade", "DecodeEndToEnd", infer_decode_end_to_end, reference_decode_end_to_end, kDecodeEndToEndTraits}};

}  // namespace

std::span<const Op> decode_end_to_end_ops() { return kDecodeEndToEndOps; }

}  // namespace saccade
