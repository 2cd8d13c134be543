#include "cpu/tactics/half_product.hpp"
#include "cpu/tactics/product_shapes.hpp"
#include "cpu/tactics/tactics.hpp"
#include "tensor/half.hpp"

// Conv on channels-last bfloat16 tensors with float32 accumulators.
namespace saccade::cpu {
namespace {

class HalfConvolution : public Tactic {
 public:
  std::string_view name() const override { return "bf16.convolution"; }

  Support supports(const NodeContext& context) const override {
    return supports_convolution(context, DType::kBFloat16);
  }

  bool supports_strided_operands(const NodeContext& context) const override { return has_pixel_pitches(context); }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ConvolutionOperands operands(context);
    const HalfGeometry g = half_geometry(operands.window, operands.images, operands.groups, operands.in_channels,
                                         operands.out_channels, context.threads);
    const auto weights = context.constant(1)->data<BFloat16>();
    return half_product_launch({.geometry = g,
                                .weights = pack_half_weights(context, g, {weights.data(), operands.strides()}),
                                .pitches = pixel_pitches(context),
                                .bias = padded_bias(g.groups, g.out_channels, g.padded_channels(), context.constant(2)),
                                .operations = convolution_operations(context)},
                               context.threads);
  }
};

}  // namespace

const Tactic& bf16_convolution() {
  static const HalfConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
