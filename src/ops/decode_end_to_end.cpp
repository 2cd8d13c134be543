#include "ops/candidates.hpp"

// saccade.DecodeEndToEnd: the output of models that choose among their boxes themselves, to candidates
// (candidates.hpp).
//
// Input 0: float32 [1, N, 6], rows x1, y1, x2, y2 (model pixels), score, class.  Input 1 (optional): the classes asked
// for.
namespace saccade {
namespace {

void infer(InferContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.rank() != 3 || shape[0] != 1 || shape[2] != 6)
    fail(ErrorCode::kInvalidFile, "predictions are {}, not 1xboxesx6", shape.to_string());
  infer_candidates(context, shape[1], 1);
}

void reference(const KernelContext& context) {
  const float conf = context.attributes().real("conf", 0.25F);
  const ClassFilter filter(context, 1);
  const std::span<const float> data = context.in<float>(0);
  CandidateWriter writer(context);
  for (std::size_t i = 0; i + 6 <= data.size(); i += 6) {
    const float class_id = data[i + 5];
    if (!(data[i + 4] > conf) || !(class_id >= 0 && class_id < 1e6F)) continue;
    const auto chosen = static_cast<std::int32_t>(class_id);
    if (filter.allows(chosen)) writer.add({data[i], data[i + 1], data[i + 2], data[i + 3]}, data[i + 4], chosen);
  }
  writer.finish();
}

constexpr Op kOps[] = {{"saccade", "DecodeEndToEnd", infer, reference}};

}  // namespace

std::span<const Op> decode_end_to_end_ops() { return kOps; }

}  // namespace saccade
