#include "cpu/kernels/row_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// Softmax, LogSoftmax, LayerNormalization and RMSNormalization: one reduction row at a time if it is contiguous, else
// one row per vector lane.
namespace saccade::cpu {
namespace {

void softmax(const Lines& lines, bool log, const float* src, float* dst) {
  // An exponential costs about as much as eight memory-bound elements.
  constexpr std::int64_t kWork = 8;
  const RowKernels& kernels = row_kernels();
  const auto count = static_cast<std::size_t>(lines.count);
  const auto stride = static_cast<std::size_t>(lines.inner);
  for_lines(
      lines, kWork, [&](std::int64_t from, std::int64_t) { kernels.softmax_row(src + from, dst + from, count, log); },
      [&](std::int64_t from, std::int64_t, std::size_t width) {
        kernels.softmax_columns(src + from, dst + from, count, stride, width, log);
      });
}

/// No unless input and output are float32 with the same layout; common limits of tactics on reduction rows.
Support same_lines(const NodeContext& context) {
  if (context.input(0).type.dtype != DType::kFloat32 || context.output().type.dtype != DType::kFloat32)
    return Support::no("only float32 has vector kernels");
  if (context.input(0).layout != context.output().layout && context.output().type.shape.rank() >= 3)
    return Support::no("its input and output have different layouts");
  return supports_post_ops(context);
}

class Softmax : public Tactic {
 public:
  std::string_view name() const override { return "vector.softmax"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Softmax") && !context.node.is("LogSoftmax")) return Support::other_operator("not a Softmax");
    return same_lines(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const TensorView view = view_of(context.input(0));
    const int rank = view.shape.rank();
    std::vector<bool> axes(static_cast<std::size_t>(rank), false);
    if (rank > 0)
      axes[static_cast<std::size_t>(InferContext::axis(context.node.attributes.integer("axis", -1), rank))] = true;
    const Lines lines = lines_along(view, axes).value();
    const bool log = context.node.is("LogSoftmax");
    return with_post_ops(context, launch_of([lines, log](auto inputs, auto outputs) {
                           softmax(lines, log, static_cast<const float*>(inputs[0].data),
                                   static_cast<float*>(outputs[0].data));
                         }));
  }
};

int first_normalised_axis(const NodeContext& context) {
  return InferContext::axis(context.node.attributes.integer("axis", -1), context.input(0).type.shape.rank());
}

/// Whether an RMSNormalization's scale, which only needs to broadcast, has one value per element of a row.
bool scales_elements(const NodeContext& context) {
  const Shape& shape = context.input(0).type.shape;
  const Shape& scale = context.input(1).type.shape;
  const int axis = first_normalised_axis(context);
  if (scale.rank() < shape.rank() - axis) return false;
  for (int i = 1; i <= scale.rank(); ++i)
    if (scale[scale.rank() - i] != (shape.rank() - i < axis ? 1 : shape[shape.rank() - i])) return false;
  return true;
}

class LayerNorm : public Tactic {
 public:
  std::string_view name() const override { return "vector.layer_norm"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("LayerNormalization") && !node.is("RMSNormalization"))
      return Support::other_operator("not a LayerNormalization or RMSNormalization");
    if (node.outputs.size() > 1) return Support::no("its output of moments is used");
    for (int i = 1; i < 3; ++i)
      if (context.has(i) && context.input(i).type.dtype != DType::kFloat32)
        return Support::no("its parameters are not float32");
    if (node.is("RMSNormalization") && !scales_elements(context))
      return Support::no("its scale does not hold one number for each element normalised together");
    if (context.output().layout != Layout::kRowMajor && context.output().type.shape.rank() >= 3)
      return Support::no("its lines are not neighbours in a channels-last tensor");
    return same_lines(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Shape& shape = context.input(0).type.shape;
    std::int64_t count = 1;
    for (int i = first_normalised_axis(context); i < shape.rank(); ++i) count *= shape[i];
    const std::int64_t rows = count == 0 ? 0 : shape.elements() / count;
    const float epsilon = context.node.attributes.real("epsilon", 1e-5F);
    const bool centred = context.node.is("LayerNormalization");
    const bool biased = centred && context.has(2);
    return with_post_ops(context, launch_of([=](auto inputs, auto outputs) {
                           const auto* src = static_cast<const float*>(inputs[0].data);
                           const auto* scale = static_cast<const float*>(inputs[1].data);
                           const auto* bias = biased ? static_cast<const float*>(inputs[2].data) : nullptr;
                           auto* dst = static_cast<float*>(outputs[0].data);
                           const auto size = static_cast<std::size_t>(count);
                           parallel_for(
                               rows, kParallelGrain / (2 * count + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
                                 for (std::int64_t i = begin * count; i < end * count; i += count) {
                                   if (centred)
                                     row_kernels().layer_norm_row(src + i, dst + i, size, scale, bias, epsilon);
                                   else
                                     row_kernels().rms_norm_row(src + i, dst + i, size, scale, epsilon);
                                 }
                               });
                         }));
  }
};

}  // namespace

const Tactic& vector_softmax() {
  static const Softmax tactic;
  return tactic;
}

const Tactic& vector_layer_norm() {
  static const LayerNorm tactic;
  return tactic;
}

}  // namespace saccade::cpu
