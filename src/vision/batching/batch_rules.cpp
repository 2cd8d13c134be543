#include <algorithm>
#include <map>
#include <numeric>

#include "ops/core/op.hpp"
#include "ops/layers/einsum_equation.hpp"
#include "vision/batching/batch_step.hpp"

// Operators that compute, and the table of all rules.
namespace saccade {
namespace {

/// INPUTS broadcast to the output, except for the last SKIPPED dimensions.
void broadcast(BatchStep& step, const std::vector<std::size_t>& inputs, int skipped) {
  const int rank = step.output_shape().rank();
  const auto moved = [&](std::size_t i, ImageAxis axis, int by) {
    return ImageAxis{axis.axis + by * (rank - step.shape(i).rank()), axis.inner, axis.outer};
  };
  // The axis of an input to which all others fit, or can be aligned.
  std::optional<ImageAxis> at;
  for (const std::size_t i : inputs) {
    if (!step.varies(i) || at) continue;
    const ImageAxis candidate = moved(i, *step.axis(i), 1);
    const bool fits = std::ranges::all_of(inputs, [&](std::size_t other) {
      return !step.varies(other) || moved(other, *step.axis(other), 1) == candidate ||
             step.can_align(other, moved(other, candidate, -1));
    });
    if (fits && candidate.axis < rank - skipped) at = candidate;
  }
  if (!at) step.refuse("its inputs have the images along axes that do not fit each other");
  for (const std::size_t i : inputs) {
    if (!step.has(i)) continue;
    const ImageAxis own = moved(i, *at, -1);
    if (step.varies(i)) {
      step.align(i, own);
    } else if (own.axis >= 0 && step.shape(i)[own.axis] != 1) {
      if (step.shape(i)[own.axis] != at->inner || at->outer != 1) step.refuse("it repeats the axis of the images");
      step.repeat(i, own.axis);
    }
  }
  step.keep(*at);
}

void elements(BatchStep& step) {
  if (traits_of(step.node()).elementwise == Elementwise::kBroadcast) {
    std::vector<std::size_t> inputs(step.inputs());
    std::iota(inputs.begin(), inputs.end(), std::size_t{0});
    broadcast(step, inputs, 0);
    return;
  }
  step.require_shared_from(1);
  step.keep(step.required_axis(0));
}

/// The first input has a batch dimension, the others are weights.
void batched_first(BatchStep& step) {
  step.require_shared_from(1);
  static_cast<void>(step.required_axis(0));
  const ImageAxis first{0, step.shape(0)[0]};
  if (!step.can_align(0, first)) step.refuse("its images are not along the first axis");
  step.align(0, first);
  step.keep({0, step.output_shape()[0]});
}

/// An output with positions in the whole input counts the images.
void pool(BatchStep& step) {
  if (step.is_read(1)) step.refuse("its indices count the images");
  batched_first(step);
}

/// The first COUNT inputs have a batch dimension.
void all_batched(BatchStep& step, std::size_t count) {
  step.require_shared_from(count);
  for (std::size_t i = 0; i < std::min(count, step.inputs()); ++i) {
    if (!step.has(i)) continue;
    const ImageAxis first{0, step.shape(i)[0]};
    if (first.inner != step.output_shape()[0]) step.refuse("its inputs have different numbers of images");
    if (step.varies(i) && !step.can_align(i, first)) step.refuse("its images are not along the first axis");
    step.varies(i) ? step.align(i, first) : step.repeat(i, 0);
  }
  step.keep({0, step.output_shape()[0]});
}

void grid_sample(BatchStep& step) { all_batched(step, 2); }

void deform_conv(BatchStep& step) {
  // The weights and the bias are inputs 1 and 3.
  for (const std::size_t weights : {1U, 3U})
    if (step.varies(weights)) step.refuse("its weights depend on the image");
  const ImageAxis from = step.required_axis(0);
  for (const std::size_t i : {0U, 2U, 4U}) {
    if (!step.has(i)) continue;
    if (!step.varies(i)) step.repeat(i, 0);
    if (step.varies(i) && *step.axis(i) != ImageAxis{0, from.inner})
      step.refuse("its images are not along the first axis");
  }
  step.keep(from);
}

void resize(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  if (step.attributes().text("coordinate_transformation_mode") == "tf_crop_and_resize")
    step.refuse("its region covers the axis of the images");
  if (step.output_shape()[from.axis] != from.per_image()) step.refuse("it resizes the axis of the images");
  if (step.has(3) && step.shape(3).elements() != 0) {
    const std::vector<int> axes = step.axes_of("axes", 4);
    std::vector<std::int64_t> sizes = step.integers(3);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if ((axes.empty() ? static_cast<int>(i) : axes[i]) == from.axis) sizes[i] *= step.images();
    step.replace(3, std::move(sizes));
  }
  step.keep(from);
}

/// Along the axis of an attribute, which the output keeps.
void along(BatchStep& step, std::int64_t otherwise) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  if (InferContext::axis(step.attributes().integer("axis", otherwise), step.shape(0).rank()) == from.axis)
    step.refuse("it combines the images");
  step.keep(from);
}
void along_last(BatchStep& step) { along(step, -1); }

/// Over all axes from one on.
void normalize_from(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  if (InferContext::axis(step.attributes().integer("axis", -1), step.shape(0).rank()) <= from.axis)
    step.refuse("it combines the images");
  step.keep(from);
}

void cumulate(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  if (InferContext::axis(step.integers(1).at(0), step.shape(0).rank()) == from.axis)
    step.refuse("it combines the images");
  step.keep(from);
}

/// The axis of the images once REDUCED axes are gone.
ImageAxis without(const BatchStep& step, ImageAxis from, const std::vector<int>& reduced) {
  if (reduced.empty() || std::ranges::count(reduced, from.axis) != 0) step.refuse("it combines the images");
  if (step.attributes().integer("keepdims", 1) != 0) return from;
  const auto before = std::ranges::count_if(reduced, [&](int axis) { return axis < from.axis; });
  return {from.axis - static_cast<int>(before), from.inner, from.outer};
}

void reduce(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  const std::vector<int> reduced = step.axes_of("axes", 1);
  if (reduced.empty() && step.attributes().integer("noop_with_empty_axes", 0) != 0) {
    step.keep(from);
    return;
  }
  step.keep(without(step, from, reduced));
}

void arg_reduce(BatchStep& step) {
  const ImageAxis from = step.required_axis(0);
  const int axis = InferContext::axis(step.attributes().integer("axis", 0), step.shape(0).rank());
  step.keep(without(step, from, {axis}));
}

/// Inputs 0 and RIGHT are multiplied.
void multiply(BatchStep& step, std::size_t right) {
  const int rank = step.output_shape().rank();
  const auto lies_along = [&](std::size_t i, int from_end) {
    return step.varies(i) && step.axis(i)->axis == step.shape(i).rank() - from_end;
  };
  const auto kept_at = [&](std::size_t i, int axis) { step.keep({axis, step.axis(i)->inner, step.axis(i)->outer}); };
  if (step.shape(0).rank() < 2 || step.shape(right).rank() < 2) step.refuse("it multiplies a vector");
  if (lies_along(0, 2) && !step.varies(right))
    kept_at(0, rank - 2);
  else if (lies_along(right, 1) && !step.varies(0))
    kept_at(right, rank - 1);
  else
    broadcast(step, {0, right}, 2);
}

void matmul(BatchStep& step) {
  step.require_shared_from(2);
  multiply(step, 1);
}

void quantized_matmul(BatchStep& step) {
  for (std::size_t i = 0; i < step.inputs(); ++i)
    if (i != 0 && i != 3 && step.varies(i)) step.refuse("its scales depend on the image");
  multiply(step, 3);
}

void gemm(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  const bool transposed = step.attributes().integer("transA", 0) != 0;
  if (from.axis != (transposed ? 1 : 0)) step.refuse("it combines the images");
  if (step.has(2) && step.shape(2).rank() == 2 && step.shape(2)[0] != 1) {
    if (step.shape(2)[0] != from.inner || from.outer != 1) step.refuse("its bias has rows");
    step.repeat(2, 0);
  }
  step.keep({0, from.inner, from.outer});
}

void einsum(BatchStep& step) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < step.inputs(); ++i) shapes.push_back(step.shape(i));
  const EinsumEquation equation = read_einsum(step.attributes(), shapes);
  char label = 0;
  ImageAxis from;
  for (std::size_t i = 0; i < step.inputs(); ++i) {
    if (!step.varies(i)) continue;
    const char own = equation.operands[i][static_cast<std::size_t>(step.axis(i)->axis)];
    if (label != 0 && own != label) step.refuse("its inputs have the images along different axes");
    label = own;
    from = *step.axis(i);
  }
  for (std::size_t i = 0; i < step.inputs(); ++i) {
    const std::string& own = equation.operands[i];
    if (std::ranges::count(own, label) > 1) step.refuse("it takes a diagonal of the images");
    if (step.varies(i) || own.find(label) == std::string::npos) continue;
    if (from.outer != 1) step.refuse("it repeats the axis of the images");
    step.repeat(i, static_cast<int>(own.find(label)));
  }
  const std::size_t made = equation.output.find(label);
  if (made == std::string::npos) step.refuse("it combines the images");
  step.keep({static_cast<int>(made), from.inner, from.outer});
}

/// Scales along an axis other than the images', or a single one.
void quantize(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  const bool is_by_axis = step.shape(1).rank() == 1 && step.shape(1).elements() > 1;
  if (is_by_axis && InferContext::axis(step.attributes().integer("axis", 1), step.shape(0).rank()) == from.axis)
    step.refuse("its scales count the images");
  if (step.shape(1).rank() > 1) step.refuse("its scales are in blocks");
  step.keep(from);
}

void attention(BatchStep& step) { all_batched(step, 3); }

void triangle(BatchStep& step) {
  step.require_shared_from(1);
  const ImageAxis from = step.required_axis(0);
  if (from.axis >= step.shape(0).rank() - 2) step.refuse("its triangle covers the axis of the images");
  step.keep(from);
}

void unknown(BatchStep& step) { step.refuse("there is no rule for it"); }

void quantized_broadcast(BatchStep& step) {
  for (std::size_t i = 0; i < step.inputs(); ++i)
    if (i != 0 && i != 3 && step.varies(i)) step.refuse("its scales depend on the image");
  broadcast(step, {0, 3}, 0);
}

void quantized_elements(BatchStep& step) {
  step.require_shared_from(1);
  step.keep(step.required_axis(0));
}

const std::map<std::string_view, BatchRule>& microsoft_rules() {
  static const std::map<std::string_view, BatchRule> kRules = {
      {"QLinearAdd", quantized_broadcast},       {"QLinearAveragePool", batched_first},
      {"QLinearConcat", batch_quantized_concat}, {"QLinearGlobalAveragePool", batched_first},
      {"QLinearLeakyRelu", quantized_elements},  {"QLinearMul", quantized_broadcast},
      {"QLinearSigmoid", quantized_elements},
  };
  return kRules;
}

const std::map<std::string_view, BatchRule>& rules() {
  static const std::map<std::string_view, BatchRule> kRules = {
      {"ArgMax", arg_reduce},
      {"ArgMin", arg_reduce},
      {"Attention", attention},
      {"AveragePool", batched_first},
      {"BatchNormalization", batched_first},
      {"Concat", batch_concat},
      {"Conv", batched_first},
      {"ConvInteger", batched_first},
      {"ConvTranspose", batched_first},
      {"CumSum", cumulate},
      {"DeformConv", deform_conv},
      {"DepthToSpace", batched_first},
      {"DequantizeLinear", quantize},
      {"Dropout", elements},
      {"Einsum", einsum},
      {"Expand", batch_expand},
      {"Flatten", batch_reshape},
      {"Gather", batch_gather},
      {"GatherElements", batch_gather_elements},
      {"GatherND", batch_gather_nd},
      {"Gemm", gemm},
      {"GlobalAveragePool", batched_first},
      {"GlobalLpPool", batched_first},
      {"GlobalMaxPool", batched_first},
      {"GridSample", grid_sample},
      {"GroupNormalization", batched_first},
      {"Hardmax", along_last},
      {"Identity", elements},
      {"InstanceNormalization", batched_first},
      {"LRN", batched_first},
      {"LayerNormalization", normalize_from},
      {"LogSoftmax", along_last},
      {"LpNormalization", along_last},
      {"LpPool", batched_first},
      {"MatMul", matmul},
      {"MatMulInteger", matmul},
      {"MaxPool", pool},
      {"Pad", batch_pad},
      {"QLinearConv", batched_first},
      {"QLinearMatMul", quantized_matmul},
      {"QuantizeLinear", quantize},
      {"RMSNormalization", normalize_from},
      {"ReduceL1", reduce},
      {"ReduceL2", reduce},
      {"ReduceLogSum", reduce},
      {"ReduceLogSumExp", reduce},
      {"ReduceMax", reduce},
      {"ReduceMean", reduce},
      {"ReduceMin", reduce},
      {"ReduceProd", reduce},
      {"ReduceSum", reduce},
      {"ReduceSumSquare", reduce},
      {"Reshape", batch_reshape},
      {"Resize", resize},
      {"ScatterElements", batch_scatter_elements},
      {"Slice", batch_slice},
      {"Softmax", along_last},
      {"SpaceToDepth", batched_first},
      {"Split", batch_split},
      {"Squeeze", batch_squeeze},
      {"Tile", batch_tile},
      {"TopK", along_last},
      {"Transpose", batch_transpose},
      {"Trilu", triangle},
      {"Unsqueeze", batch_unsqueeze},
  };
  return kRules;
}

}  // namespace

BatchRule batch_rule(const Node& node) {
  const auto& known = node.domain == "com.microsoft" ? microsoft_rules() : rules();
  if (!node.domain.empty() && node.domain != "com.microsoft") return unknown;
  if (const auto found = known.find(node.op); found != known.end()) return found->second;
  return traits_of(node).is_elementwise() && !traits_of(node).random ? elements : unknown;
}

}  // namespace saccade
