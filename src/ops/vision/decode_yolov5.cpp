#include <limits>

#include "ops/vision/candidates.hpp"

// Decoders of models with an objectness: rows x, y, w, h, objectness, then one number per class; a class's score is
// objectness times its number.  Input 0: float32 [1, A, 5 + C + E].  Input 1 (optional): the requested classes.
// Attribute: classes (C; 0: all numbers past the objectness).
//
// saccade.DecodeYolov5: boxes are decoded already, centre and size in model pixels.
// saccade.DecodeYolox: the raw head: centre relative to its cell in strides, size as the logarithm of strides.
// Attributes: strides (ints); width, height (of the model's input): one anchor per cell, ordered by stride, then row by
// row.
namespace saccade {
namespace {

std::int64_t cells(std::int64_t width, std::int64_t height, std::int64_t stride) {
  return (width / stride) * (height / stride);
}

std::int64_t class_columns(const Attributes& attributes, const Shape& shape) {
  const std::int64_t classes = attributes.integer("classes", 0);
  return classes == 0 ? shape[2] - 5 : classes;
}

void infer_rows(InferContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.rank() != 3 || shape[0] != 1 || shape[2] < 6)
    fail(ErrorCode::kInvalidFile, "predictions are {}, not 1xanchorsx(5+classes)", shape.to_string());
  const std::int64_t classes = class_columns(context.attributes(), shape);
  if (classes < 1 || classes > shape[2] - 5)
    fail(ErrorCode::kInvalidFile, "predictions are {}, which hold no {} classes", shape.to_string(), classes);
  check_classes(context.attributes(), classes);
  infer_candidates(context, shape[1], classes);
}

void infer_yolox(InferContext& context) {
  infer_rows(context);
  const std::int64_t width = context.attributes().integer("width", 0);
  const std::int64_t height = context.attributes().integer("height", 0);
  if (width < 1 || height < 1 || width > 65536 || height > 65536)
    fail(ErrorCode::kInvalidFile, "the input is {}x{} pixels", width, height);
  const std::vector<std::int64_t> strides = context.attributes().integers("strides");
  if (strides.empty()) fail(ErrorCode::kInvalidFile, "there are no strides");
  std::int64_t anchors = 0;
  for (std::int64_t stride : strides) {
    if (stride < 1) fail(ErrorCode::kInvalidFile, "a stride is {}", stride);
    anchors += cells(width, height, stride);
  }
  if (anchors != context.shape(0)[1])
    fail(ErrorCode::kInvalidFile, "the strides make {} cells of {}x{} pixels, but the model has {} anchors", anchors,
         width, height, context.shape(0)[1]);
}

/// Decodes all anchors with a box decoder.
template <typename MakeBox>
void decode_rows(const KernelContext& context, const MakeBox& box) {
  const Shape& shape = context.input(0).shape;
  const std::int64_t stride = shape[2];
  const std::int64_t classes = class_columns(context.attributes(), shape);
  const float conf = context.attributes().real("conf", 0.25F);
  const ClassFilter filter(context, 1);
  const float* data = context.in<float>(0).data();
  CandidateWriter writer(context);
  if (context.attributes().integer("multi_label", 0) != 0) {
    const auto score = [&](std::int64_t a, std::int64_t c) { return data[a * stride + 4] * data[a * stride + 5 + c]; };
    decode_multi_label(writer, shape[1], classes, conf, filter, score,
                       [&](std::int64_t a) { return box(a, data + a * stride); });
  } else {
    for (std::int64_t a = 0; a < shape[1]; ++a) {
      const float* row = data + a * stride;
      writer.report_nan(std::isnan(row[4]));
      if (!(row[4] > conf)) continue;  // a class's number is at most 1
      std::int64_t chosen = 0;
      bool nan = false;
      float best = -std::numeric_limits<float>::infinity();
      for (std::int64_t c = 0; c < classes; ++c) {
        nan |= std::isnan(row[5 + c]);
        if (row[5 + c] > best) best = row[5 + (chosen = c)];
      }
      const float score = row[4] * best;
      writer.report_nan(nan || std::isnan(score));
      if (score > conf && filter.allows(chosen)) writer.add(box(a, row), score, static_cast<std::int32_t>(chosen), a);
    }
  }
  writer.finish();
}

void decode_yolov5(const KernelContext& context) {
  decode_rows(context,
              [](std::int64_t /*anchor*/, const float* row) { return corners(row[0], row[1], row[2], row[3]); });
}

void decode_yolox(const KernelContext& context) {
  const std::int64_t width = context.attributes().integer("width", 0);
  const std::int64_t height = context.attributes().integer("height", 0);
  const std::vector<std::int64_t>& strides = *context.attributes().find<std::vector<std::int64_t>>("strides");
  decode_rows(context, [&](std::int64_t anchor, const float* row) {
    std::size_t level = 0;
    while (anchor >= cells(width, height, strides[level])) anchor -= cells(width, height, strides[level++]);
    const std::int64_t columns = width / strides[level];
    const std::int64_t line = anchor / columns;
    const auto stride = static_cast<float>(strides[level]);
    return corners((row[0] + static_cast<float>(anchor % columns)) * stride,
                   (row[1] + static_cast<float>(line)) * stride, std::exp(row[2]) * stride, std::exp(row[3]) * stride);
  });
}

constexpr Op kDecodeYolov5Ops[] = {
    {"saccade", "DecodeYolov5", infer_rows, decode_yolov5, {.arity = {1, 2}, .cost = {.per = CostPer::kInput}}},
    {"saccade", "DecodeYolox", infer_yolox, decode_yolox, {.arity = {1, 2}, .cost = {.per = CostPer::kInput}}}};

}  // namespace

std::span<const Op> decode_yolov5_ops() { return kDecodeYolov5Ops; }

}  // namespace saccade
