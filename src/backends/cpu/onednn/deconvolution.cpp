#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_window.hpp"
#include "cpu/tactics/tactics.hpp"

// ConvTranspose with oneDNN's deconvolution.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::deconvolution_forward::primitive_desc;

/// ONNX's weights (inputs, filters of a group, kernel) in oneDNN's order: [groups,] filters, inputs, kernel.
memory::desc weights_view(const NodeContext& context) {
  const Shape& onnx = context.input(1).type.shape;
  const Shape strides = dense_strides(onnx);
  const std::int64_t groups = context.node.attributes.integer("group", 1);
  memory::dims dims{onnx[1], onnx[0] / groups};
  memory::dims steps{strides[1], strides[0]};
  if (groups > 1) {
    dims.insert(dims.begin(), groups);
    steps.insert(steps.begin(), onnx[0] / groups * strides[0]);
  }
  for (int i = 2; i < onnx.rank(); ++i) {
    dims.push_back(onnx[i]);
    steps.push_back(strides[i]);
  }
  return {dims, memory::data_type::f32, steps};
}

Descriptor descriptor(const NodeContext& context, const dnnl::primitive_attr& attributes) {
  const Shape& weights = context.input(1).type.shape;
  const OnednnWindow window(slide_transposed(context.node.attributes, context.input(0).type.shape,
                                             kernel_of(context.node.attributes, weights)),
                            true);
  const memory::desc packed(weights_view(context).dims(), memory::data_type::f32, memory::format_tag::any);
  const memory::desc bias = context.has(2) ? describe(context.input(2)) : memory::desc();
  const dnnl::deconvolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, describe(context.input(0)), packed,
      bias, describe(context.output()), window.strides, window.gaps, window.begin, window.end);
  return {operation, attributes, onednn_engine()};
}

class Deconvolution : public Tactic {
 public:
  std::string_view name() const override { return "onednn.deconvolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("ConvTranspose")) return Support::other_operator("not a ConvTranspose");
    if (Support types = all_float32(context); !types) return types;
    if (context.constant(1) == nullptr) return Support::no("the weights are not constant");
    const FusedPostOps fused = fuse_post_ops(context);
    if (Support rest = supports_rest(context, fused); !rest) return rest;
    return onednn_supports(context, [&] { descriptor(context, fused.attributes); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      PackedOnce weights(context, DNNL_ARG_WEIGHTS, *context.constant(1), weights_view(context));
      return keeping_nan(fuse_post_ops(context), [&](const FusedPostOps& fused) {
        const Descriptor chosen = descriptor(context, fused.attributes);
        std::vector<TensorArgument> tensors = fused.operands;
        tensors.push_back({DNNL_ARG_SRC, false, 0, chosen.src_desc()});
        tensors.push_back({DNNL_ARG_DST, true, 0, chosen.dst_desc()});
        if (context.has(2)) tensors.push_back({DNNL_ARG_BIAS, false, 2, chosen.bias_desc()});
        return with_rest(context, fused,
                         onednn_launch<dnnl::deconvolution_forward>(chosen, std::move(tensors),
                                                                    {weights.as(chosen.weights_desc())}));
      });
    });
  }
};

}  // namespace

const Tactic& onednn_deconvolution() {
  static const Deconvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
