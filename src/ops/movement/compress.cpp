#include <algorithm>
#include <vector>

#include "ops/core/index.hpp"
#include "ops/core/strided_copy.hpp"

// Compress: the slices along an axis, or the elements, whose condition is true. Their number must be known when the
// graph is built, since shapes are static.
namespace saccade {
namespace {

/// The input as three dimensions, the middle one being selected from. Without an axis, single elements.
Shape slices_of(const Attributes& attributes, const Shape& shape) {
  if (!attributes.has("axis")) return {1, shape.elements(), 1};
  const int axis = axis_of(attributes, shape);
  Shape slices{1, shape[axis], 1};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != axis) slices[i < axis ? 0 : 2] *= shape[i];
  return slices;
}

/// The conditions as bytes, for a model file may contain other bools than 0 and 1; those past the last slice are
/// ignored.
std::span<const std::uint8_t> conditions_of(const void* data, const Shape& shape, std::int64_t slices) {
  return {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(std::min(shape.elements(), slices))};
}

void infer_compress(InferContext& context) {
  const Shape& input = context.shape(0);
  if (context.dtype(1) != DType::kBool || context.shape(1).rank() != 1)
    fail(ErrorCode::kInvalidFile, "Compress's condition must be a list of bools, not {} {}",
         to_string(context.dtype(1)), context.shape(1).to_string());
  const Shape slices = slices_of(context.attributes(), input);
  const Tensor* known = context.known(1);
  if (known == nullptr)
    fail(ErrorCode::kUnsupported,
         "Compress's condition (input 1) depends on the model's inputs, and with it the size of the output; it must be "
         "a constant");
  const auto conditions = conditions_of(known->raw(), known->shape(), slices[1]);
  const auto count = std::ranges::count_if(conditions, [](std::uint8_t byte) { return byte != 0; });
  Shape output{count};
  if (context.attributes().has("axis")) {
    output = input;
    output[axis_of(context.attributes(), input)] = count;
  }
  context.output(0, context.dtype(0), output);
}

void compress(const KernelContext& context) {
  const TensorView& from = context.input(0);
  const Shape slices = slices_of(context.attributes(), from.shape);
  const auto conditions = conditions_of(context.input(1).data, context.input(1).shape, slices[1]);
  const auto count = std::ranges::count_if(conditions, [](std::uint8_t byte) { return byte != 0; });
  const std::int64_t inner = slices[2];
  std::int64_t next = 0;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i] == 0) continue;
    strided_copy(from.dtype, {slices[0], inner},
                 {from.data, static_cast<std::int64_t>(i) * inner, {slices[1] * inner, 1}},
                 {context.output().data, next++ * inner, {count * inner, 1}});
  }
}

constexpr OpTraits kCompressTraits{.arity = {2, 2},
                                   .movement = Movement::kRearrange,
                                   .cost = {.per = CostPer::kNothing},
                                   .rows = {{{RowCount::By::kData}}}};

constexpr Op kCompressOps[] = {{"", "Compress", infer_compress, compress, kCompressTraits}};

}  // namespace

std::span<const Op> compress_ops() { return kCompressOps; }

}  // namespace saccade
