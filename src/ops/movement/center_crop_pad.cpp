#include <numeric>

#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"

// CenterCropPad: every axis is cropped or padded with zeros to a length, equally on both sides; an odd element is added
// to, or removed from, the end.
namespace saccade {
namespace {

void infer_center_crop_pad(InferContext& context) {
  Shape output = context.shape(0);
  std::vector<std::int64_t> axes(static_cast<std::size_t>(output.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  axes = context.attributes().integers("axes", axes);
  const auto lengths = context.integers(1, "its output's shape");
  if (lengths.size() != axes.size())
    fail(ErrorCode::kInvalidFile, "{} lengths are given for {} axes", lengths.size(), axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (lengths[i] < 0) fail(ErrorCode::kInvalidFile, "an axis can't be {} long", lengths[i]);
    output[InferContext::axis(axes[i], output.rank())] = lengths[i];
  }
  context.output(0, context.dtype(0), output);
}

void reference_center_crop_pad(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const TensorView& to = context.output();
  Shape common = to.shape;
  Strided source = strided(from);
  Strided target = strided(to);
  for (int i = 0; i < common.rank(); ++i) {
    const std::int64_t more = to.shape[i] - from.shape[i];
    common[i] = std::min(to.shape[i], from.shape[i]);
    if (more < 0)
      source.offset += -more / 2 * source.strides[i];
    else
      target.offset += more / 2 * target.strides[i];
  }
  fill_with_zero(to);
  if (common.elements() > 0) strided_copy(to.dtype, common, source, target);
}

constexpr OpTraits kCenterCropPadTraits{.arity = {2, 2}, .cost = {.per = CostPer::kNothing}};

constexpr Op kCenterCropPadOps[] = {
    {"", "CenterCropPad", infer_center_crop_pad, reference_center_crop_pad, kCenterCropPadTraits}};

}  // namespace

std::span<const Op> center_crop_pad_ops() { return kCenterCropPadOps; }

}  // namespace saccade
