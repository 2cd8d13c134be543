#include <algorithm>

#include "ops/core/op.hpp"
#include "ops/vision/box_cells.hpp"

// saccade.BoxMasks: masks of objects as sums of prototypes (YOLACT, Bolya et al., 2019).
//
// Inputs: coefficients float32 [N, K]; prototypes float32 [1, K, h, w]; detections float32 [N, 6] (source pixels,
// output of SelectBoxes); their count int32 [1]; saccade.Preprocess's geometry.  Attributes: width, height (of the
// model's input image, which the grid covers).
// Output: logits float32 [N, h, w]: coefficients x prototypes, summed in the prototypes' order, in the cells that
// bilinear sampling at the pixels of the object's box needs; 0 in the others.  Rows past the count are unspecified.
namespace saccade {
namespace {

void infer_box_masks(InferContext& context) {
  for (int i : {0, 1, 2, 4})
    if (context.dtype(i) != DType::kFloat32)
      fail(ErrorCode::kInvalidFile, "input {} is {}, not float32", i, to_string(context.dtype(i)));
  const Shape& coefficients = context.shape(0);
  const Shape& prototypes = context.shape(1);
  if (coefficients.rank() != 2 || prototypes.rank() != 4 || prototypes[0] != 1 || prototypes[1] != coefficients[1])
    fail(ErrorCode::kInvalidFile, "coefficients of {} and prototypes of {} do not belong together",
         coefficients.to_string(), prototypes.to_string());
  if (context.shape(2) != Shape{coefficients[0], 6} || context.dtype(3) != DType::kInt32 ||
      context.shape(3) != Shape{1} || context.shape(4) != Shape{6})
    fail(ErrorCode::kInvalidFile, "detections, count and geometry are {}, {} and {}, not {}x6, 1 and 6",
         context.shape(2).to_string(), context.shape(3).to_string(), context.shape(4).to_string(), coefficients[0]);
  if (context.attributes().integer("width", 0) < 1 || context.attributes().integer("height", 0) < 1)
    fail(ErrorCode::kInvalidFile, "the model's image has no size");
  context.output(0, DType::kFloat32, {coefficients[0], prototypes[2], prototypes[3]});
}

void reference_box_masks(const KernelContext& context) {
  const Shape& shape = context.input(1).shape;
  const auto depth = static_cast<std::size_t>(shape[1]);
  const auto columns = static_cast<std::size_t>(shape[3]);
  const std::size_t plane = static_cast<std::size_t>(shape[2]) * columns;
  const std::span<const float> geometry = context.in<float>(4);
  const std::int64_t objects = context.input(0).shape[0];
  const std::int64_t count = std::clamp<std::int64_t>(context.in<std::int32_t>(3)[0], 0, objects);
  for (std::int64_t i = 0; i < count; ++i) {
    const float* box = context.in<float>(2).data() + 6 * i;
    const float* weights = context.in<float>(0).data() + i * shape[1];
    float* logits = context.out<float>().data() + static_cast<std::size_t>(i) * plane;
    std::fill_n(logits, plane, 0.0F);
    const auto [across, down] = box_cells(shape, context.attributes(), geometry, box);
    for (std::size_t y = down.begin; y < down.end; ++y) {
      float* row = logits + y * columns;
      for (std::size_t k = 0; k < depth; ++k) {
        const float* prototype = context.in<float>(1).data() + k * plane + y * columns;
        for (std::size_t x = across.begin; x < across.end; ++x) row[x] += weights[k] * prototype[x];
      }
    }
  }
}

constexpr OpTraits kBoxMasksTraits{.arity = {5, 5},
                                   .cost = {.per = CostPer::kNothing},
                                   .reads = Reads::kCounted,
                                   .rows = {{{RowCount::By::kInput, 3}}}};

constexpr Op kBoxMasksOps[] = {{"saccade", "BoxMasks", infer_box_masks, reference_box_masks, kBoxMasksTraits}};

}  // namespace

std::span<const Op> box_masks_ops() { return kBoxMasksOps; }

}  // namespace saccade
