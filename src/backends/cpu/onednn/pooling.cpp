#include "cpu/loops/element_program.hpp"
#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_window.hpp"
#include "cpu/tactics/tactics.hpp"

// 8-bit MaxPool and AveragePool with oneDNN.
namespace saccade::cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Descriptor = dnnl::pooling_v2_forward::primitive_desc;

algorithm kind_of(const Node& node) {
  if (node.op == "MaxPool") return algorithm::pooling_max;
  return node.attributes.integer("count_include_pad", 0) != 0 ? algorithm::pooling_avg_include_padding
                                                              : algorithm::pooling_avg_exclude_padding;
}

Descriptor descriptor(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  const OnednnWindow window(slide(attributes, context.input(0).type.shape, attributes.integers("kernel_shape")));
  const dnnl::pooling_v2_forward::desc operation(dnnl::prop_kind::forward_inference, kind_of(context.node),
                                                 describe(context.input(0)), describe(context.output()), window.strides,
                                                 window.kernel, window.gaps, window.begin, window.end);
  dnnl::primitive_attr options;
  options.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return {operation, options, onednn_engine()};
}

class Pooling : public Tactic {
 public:
  std::string_view name() const override { return "onednn.pooling"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("MaxPool") && !node.is("AveragePool")) return Support::other_operator("not a pool");
    if (node.outputs.size() > 1) return Support::no("its output Indices is used");
    if (node.op == "MaxPool" && context.input(0).type.dtype == DType::kFloat32)
      return Support::no("oneDNN's greatest of floats loses NaN");
    if (!onednn_type(context.input(0).type.dtype)) return Support::no("oneDNN pools no such type");
    if (context.output().type.shape.elements() == 0) return Support::no("a tensor is empty");
    if (Support post_ops = supports_post_ops(context); !post_ops) return post_ops;
    // In ONNX, a window that extends beyond the input with ceil_mode counts only elements within the explicit padding.
    if (kind_of(node) == algorithm::pooling_avg_include_padding && node.attributes.integer("ceil_mode", 0) != 0)
      return Support::no("oneDNN counts the padding of ceil_mode");
    return onednn_supports(context, [&] { descriptor(context); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&] {
      const Descriptor chosen = descriptor(context);
      return with_post_ops(
          context, onednn_launch<dnnl::pooling_v2_forward>(chosen, {{DNNL_ARG_SRC, false, 0, chosen.src_desc()},
                                                                    {DNNL_ARG_DST, true, 0, chosen.dst_desc()}}));
    });
  }
};

}  // namespace

const Tactic& onednn_pooling() {
  static const Pooling tactic;
  return tactic;
}

}  // namespace saccade::cpu
