#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_window.hpp"
#include "cpu/tactics/tactics.hpp"

// Conv by oneDNN: weights packed once into the form that the chosen implementation likes best, activations read and
// written as they lie (channels-last is what it is fast with), bias and post-ops in the same pass.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::convolution_forward::primitive_desc;

/// The weights' shape as oneDNN wants it: the groups are a dimension of their own.
Shape weights_shape(const NodeContext& context) {
  const Shape& onnx = context.input(1).type.shape;
  const std::int64_t groups = context.node.attributes.integer("group", 1);
  if (groups == 1) return onnx;
  Shape grouped{groups, onnx[0] / groups};
  for (int i = 1; i < onnx.rank(); ++i) grouped.push_back(onnx[i]);
  return grouped;
}

Descriptor descriptor(const NodeContext& context, const dnnl::primitive_attr& attributes) {
  const Shape& weights = context.input(1).type.shape;
  const OnednnWindow window(
      slide(context.node.attributes, context.input(0).type.shape, kernel_of(context.node.attributes, weights)));
  const memory::desc packed(onednn_dims(weights_shape(context)), memory::data_type::f32, memory::format_tag::any);
  const memory::desc bias =
      context.has(2) ? describe(DType::kFloat32, Shape{weights[0]}, Layout::kRowMajor) : memory::desc();
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, describe(context.input(0)), packed, bias,
      describe(context.output()), window.strides, window.gaps, window.begin, window.end);
  return {operation, attributes, onednn_engine()};
}

/// oneDNN 2.6's convolution by gemm, which it falls back on where a window can lie in the padding alone, takes the
/// first element of a post-op's tensor for all of its channel.
bool misreads_operands(const NodeContext& context, const FusedPostOps& fused) {
  if (fused.operands.empty()) return false;
  const Descriptor chosen = descriptor(context, fused.attributes);
  return (":" + std::string(chosen.impl_info_str())).find(":gemm:") != std::string::npos;
}

/// The node's post-ops, apart where the implementation that oneDNN chooses with them would misread an operand.
FusedPostOps fused_post_ops(const NodeContext& context) {
  FusedPostOps fused = fuse_post_ops(context);
  return misreads_operands(context, fused) ? post_ops_apart() : fused;
}

class Convolution : public Tactic {
 public:
  std::string_view name() const override { return "onednn.convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    if (Support types = all_float32(context); !types) return types;
    if (context.constant(1) == nullptr) return Support::no("the weights are not constant");
    FusedPostOps fused;
    const auto make = [&] {
      fused = fused_post_ops(context);
      descriptor(context, fused.attributes);
    };
    if (Support primitive = onednn_supports(context, make); !primitive) return primitive;
    return supports_rest(context, fused);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      PackedOnce weights(context, DNNL_ARG_WEIGHTS, *context.constant(1),
                         describe(DType::kFloat32, weights_shape(context), Layout::kRowMajor));
      return keeping_nan(fused_post_ops(context), [&](const FusedPostOps& fused) {
        const Descriptor chosen = descriptor(context, fused.attributes);
        std::vector<TensorArgument> tensors = fused.operands;
        tensors.push_back({DNNL_ARG_SRC, false, 0, chosen.src_desc()});
        tensors.push_back({DNNL_ARG_DST, true, 0, chosen.dst_desc()});
        if (context.has(2)) tensors.push_back({DNNL_ARG_BIAS, false, 2, chosen.bias_desc()});
        return with_rest(
            context, fused,
            onednn_launch<dnnl::convolution_forward>(chosen, std::move(tensors), {weights.as(chosen.weights_desc())}));
      });
    });
  }
};

}  // namespace

const Tactic& onednn_convolution() {
  static const Convolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
