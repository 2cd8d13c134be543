#include "cpu/kernels/arg_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"

// ArgMax and ArgMin of float32, the end of segmentation networks. Bound: bytes read / bandwidth.
namespace saccade::cpu {
namespace {

/// The input's dimensions around the reduced axis.
Lines lines_of(const NodeContext& context) {
  const TensorView src = view_of(context.input(0));
  std::vector<bool> axes(static_cast<std::size_t>(src.shape.rank()), false);
  if (!axes.empty())
    axes[static_cast<std::size_t>(InferContext::axis(context.node.attributes.integer("axis", 0), src.shape.rank()))] =
        true;
  return lines_along(src, axes).value();
}

void find(ArgRule rule, const Lines& lines, const float* src, std::int64_t* dst) {
  const ArgKernels& kernels = arg_kernels();
  const auto count = static_cast<std::size_t>(lines.count);
  const auto stride = static_cast<std::size_t>(lines.inner);
  for_lines(
      lines, 1, [&](std::int64_t from, std::int64_t to) { dst[to] = kernels.row(rule, src + from, count); },
      [&](std::int64_t from, std::int64_t to, std::size_t width) {
        kernels.columns(rule, src + from, count, stride, width, dst + to);
      });
}

class ArgMax : public Tactic {
 public:
  std::string_view name() const override { return "vector.arg_max"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("ArgMax") && !context.node.is("ArgMin"))
      return Support::other_operator("it is no ArgMax or ArgMin");
    if (context.input(0).type.dtype != DType::kFloat32) return Support::no("only float32 has vector kernels");
    if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
    if (!is_row_major(context.input(0)) || !is_row_major(context.output()))
      return Support::no("it runs on row-major tensors only");
    if (context.input(0).type.shape.elements() == 0) return Support::no("its input is empty");
    if (lines_of(context).count > std::numeric_limits<std::int32_t>::max())
      return Support::no("its axis is too long for 32-bit indices");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ArgRule rule{.greatest = context.node.is("ArgMax"),
                       .last = context.node.attributes.integer("select_last_index", 0) != 0};
    return launch_of([rule, lines = lines_of(context)](auto inputs, auto outputs) {
      find(rule, lines, static_cast<const float*>(inputs[0].data), static_cast<std::int64_t*>(outputs[0].data));
    });
  }
};

}  // namespace

const Tactic& vector_arg_max() {
  static const ArgMax tactic;
  return tactic;
}

}  // namespace saccade::cpu
