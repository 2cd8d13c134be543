#include <algorithm>

#include "cpu/kernels/product_kernels.hpp"
#include "cpu/tactics/direct_product.hpp"
#include "cpu/tactics/tactics.hpp"

// Conv on channels-last tensors as it is defined, without unfolding its input.
namespace saccade::cpu {
namespace {

constexpr int kChannels = 1;  // the dimension

/// A 1x1 convolution that reads each pixel once is a GEMM: one row of pixels.
Window flattened(const Window& window) {
  const bool is_pointwise = window.taps() == 1 && window.in == window.out &&
                            window.pad_begin == Window::Axes{0, 0, 0} && window.stride == Window::Axes{1, 1, 1};
  if (!is_pointwise) return window;
  Window flat = window;
  flat.in = flat.out = {1, 1, window.outputs()};
  return flat;
}

ProductGeometry geometry_of(const NodeContext& context) {
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  const std::int64_t groups = context.node.attributes.integer("group", 1);
  const Window window = flattened(slide(context.node.attributes, input, kernel_of(context.node.attributes, weights)));
  ProductGeometry geometry{.window = window,
                           .images = input[0],
                           .groups = groups,
                           .in_channels = weights[1],
                           .out_channels = weights[0] / groups,
                           .taps = window.taps(),
                           .pixels = window.outputs()};
  divide(geometry, context.threads);
  return geometry;
}

class DirectConvolution : public Tactic {
 public:
  std::string_view name() const override { return "vector.convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    for (int i = 0; i < context.input_count(); ++i)
      if (context.has(i) && context.input(i).type.dtype != DType::kFloat32)
        return Support::no("only float32 tensors are supported");
    if (context.constant(1) == nullptr || (context.has(2) && context.constant(2) == nullptr))
      return Support::no("the weights or the bias are not constant");
    if (context.input(0).layout != Layout::kChannelsLast || context.output().layout != Layout::kChannelsLast)
      return Support::no("its tensors are not channels-last");
    if (context.output().type.shape.elements() == 0 || context.input(0).type.shape.elements() == 0)
      return Support::no("a tensor is empty");
    const std::int64_t groups = context.node.attributes.integer("group", 1);
    if (groups > 1 && context.input(1).type.shape[0] / groups < kLeastOfGroup)
      return Support::no("its groups have too few output channels for a vector");
    std::string why;
    return RowOperations::of(context, kChannels, why) ? Support{} : Support::no(why);
  }

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
    const ProductGeometry g = geometry_of(context);
    std::string why;
    const WeightStrides steps{.out_channel = g.in_channels * g.taps, .in_channel = g.taps, .tap = 1};
    return product_launch({.geometry = g,
                           .weights = pack_weights(context, g, {context.constant(1)->data<float>().data(), steps}),
                           .bias = padded_bias(g, context.constant(2)),
                           .operations = RowOperations::of(context, kChannels, why).value()},
                          context.threads);
  }

 private:
  static constexpr std::int64_t kLeastOfGroup = 8;
};

}  // namespace

const Tactic& vector_convolution() {
  static const DirectConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
