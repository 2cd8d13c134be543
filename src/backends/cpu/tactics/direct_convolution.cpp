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

/// Without its weights.
PackedProduct product_of(const NodeContext& context, const ConvolutionOperands& operands) {
  const ProductGeometry g = geometry_of(operands, context.threads);
  return {.geometry = g,
          .input_strides = operands.strides(),
          .pitches = pixel_pitches(context),
          .bias = padded_bias(g.groups, g.out_channels, g.padded_channels(), context.constant(2)),
          .operations = convolution_operations(context)};
}

class DirectConvolution : public Tactic {
 public:
  std::string_view name() const override { return "vector.convolution"; }

  Support supports(const NodeContext& context) const override { return supports_convolution(context, DType::kFloat32); }

  bool supports_strided_operands(const NodeContext& context) const override { return has_pixel_pitches(context); }

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
    PackedProduct product = product_of(context, operands);
    const float* weights = context.constant(1)->data<float>().data();
    product.weights = pack_weights(context, product.geometry, {weights, operands.strides()});
    return product_launch(std::move(product), context.threads);
  }
};

}  // namespace

std::unique_ptr<Launch> repacking_convolution(const NodeContext& context) {
  return product_launch(product_of(context, ConvolutionOperands(context)), context.threads);
}

const Tactic& vector_convolution() {
  static const DirectConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
