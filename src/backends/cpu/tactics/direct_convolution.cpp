#include "cpu/kernels/product_kernels.hpp"
#include "cpu/tactics/direct_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/tactics/tactics.hpp"

// Conv on channels-last tensors as it is defined, without unfolding its input.
namespace saccade::cpu {
namespace {

ProductGeometry geometry_of(const ConvolutionOperands& operands, int threads) {
  ProductGeometry geometry{.window = operands.window,
                           .images = operands.images,
                           .groups = operands.groups,
                           .in_channels = operands.in_channels,
                           .out_channels = operands.out_channels,
                           .taps = operands.taps(),
                           .pixels = operands.window.outputs()};
  divide(geometry, threads);
  return geometry;
}

class DirectConvolution : public Tactic {
 public:
  std::string_view name() const override { return "vector.convolution"; }

  Support supports(const NodeContext& context) const override { return supports_convolution(context, DType::kFloat32); }

  /// With AVX2, oneDNN's kernels of channels-last tensors are slower for windows of several taps and enough channels.
  bool leads(const NodeContext& context) const override {
    constexpr std::size_t kColumnsOfAvx2 = 16;
    constexpr std::int64_t kLeastChannels = 24;
    if (!context.node.is("Conv") || product_kernels().columns != kColumnsOfAvx2) return false;
    const Shape& weights = context.input(1).type.shape;
    return weights[1] >= kLeastChannels && weights.elements() > weights[0] * weights[1] &&
           context.node.attributes.integer("group", 1) == 1;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ConvolutionOperands operands(context);
    const ProductGeometry g = geometry_of(operands, context.threads);
    const float* weights = context.constant(1)->data<float>().data();
    return product_launch({.geometry = g,
                           .weights = pack_weights(context, g, {weights, operands.strides()}),
                           .bias = padded_bias(g.groups, g.out_channels, g.padded_channels(), context.constant(2)),
                           .operations = convolution_operations(context)},
                          context.threads);
  }
};

}  // namespace

const Tactic& vector_convolution() {
  static const DirectConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
