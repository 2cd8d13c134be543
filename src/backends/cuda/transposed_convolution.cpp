#include "cuda/transposed_plan.hpp"

#include "cuda/convolution.hpp"
#include "cuda/element_functions.hpp"
#include "ops/window.hpp"

// ConvTranspose of one group with constant weights as a convolution of its phases.
namespace saccade::cuda {
namespace {

// Places are 32-bit numbers, and packed in pairs of 16 bits.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;
constexpr std::int64_t kMaxLength = 16384;

TransposedShape shape_of(const NodeContext& context) {
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  const Attributes& attributes = context.node.attributes;
  const Window window = slide_transposed(attributes, input, kernel_of(attributes, weights));
  const auto length = [](std::int64_t value) { return static_cast<int>(value); };
  return {.dtype = context.input(0).type.dtype,
          .images = length(input[0]),
          .height = length(window.in[1]),
          .width = length(window.in[2]),
          .channels = length(input[1]),
          .filters = length(weights[1]),
          .kernel_height = length(window.kernel[1]),
          .kernel_width = length(window.kernel[2]),
          .stride_y = length(window.stride[1]),
          .stride_x = length(window.stride[2]),
          .pad_y = length(window.pad_begin[1]),
          .pad_x = length(window.pad_begin[2]),
          .dilation_y = length(window.dilation[1]),
          .dilation_x = length(window.dilation[2]),
          .out_height = length(window.out[1]),
          .out_width = length(window.out[2])};
}

Support supports_value(const Value& value, DType type) {
  const Shape& shape = value.type.shape;
  if (value.type.dtype != type) return Support::no("its tensors are of several types");
  if (shape.rank() > 4) return Support::no("it has more than two spatial dimensions");
  if (!lies_channels_last(value)) return Support::no("its tensors are not channels-last");
  if (shape.elements() >= kMaxElements) return Support::no("its tensors are too large");
  if (shape.elements() == 0) return Support::no("its tensors are empty");
  for (int i = 2; i < shape.rank(); ++i)
    if (shape[i] > kMaxLength) return Support::no("its images are too large");
  return {};
}

class TransposedConvolution : public Tactic {
 public:
  explicit TransposedConvolution(Device& device) : device_(device) {}
  std::string_view name() const override { return "tiled.transposed_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("ConvTranspose")) return Support::other_operator("not a ConvTranspose");
    const DType type = context.input(0).type.dtype;
    if (type != DType::kFloat32 && type != DType::kFloat16 && type != DType::kBFloat16)
      return Support::no(fmt::format("it multiplies no {}", to_string(type)));
    if (context.constant(1) == nullptr) return Support::no("the weights are not constant");
    if (context.has(2) && context.constant(2) == nullptr) return Support::no("the bias is not constant");
    if (context.node.attributes.integer("group", 1) != 1) return Support::no("it has several groups");
    for (const Value* value : {&context.input(0), &context.output()})
      if (Support tensor = supports_value(*value, type); !tensor) return tensor;
    if (!has_whole_phases(shape_of(context))) return Support::no("its filters are no multiple of 8");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const TransposedShape shape = shape_of(context);
    const ConvolutionShape phases = phases_of(shape);
    std::vector<float> bias;
    if (context.has(2)) bias = floats_of(*context.constant(2));
    return make_launch(
        device_, context,
        convolution_program(context, phases, convolution_tiles(phases, limits_of(device_)).front(),
                            phase_weights(shape, floats_of(*context.constant(1))), phase_bias(shape, bias)));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> tiled_transposed_convolution(Device& device) {
  return std::make_unique<TransposedConvolution>(device);
}

}  // namespace saccade::cuda
