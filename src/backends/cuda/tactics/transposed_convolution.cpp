#include "cuda/plans/transposed_plan.hpp"

#include "cuda/tactics/convolution.hpp"
#include "ops/core/tf32.hpp"
#include "ops/layers/window.hpp"
#include "runtime/storage_alias.hpp"

// ConvTranspose of one group with constant weights, as a convolution of its phases.
namespace saccade::cuda {
namespace {

TransposedShape shape_of(const NodeContext& context) {
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  const Attributes& attributes = context.node.attributes;
  const Window window = slide_transposed(attributes, input, kernel_of(attributes, weights));
  const auto length = [](std::int64_t value) { return static_cast<int>(value); };
  return {.dtype = context.input(0).type.dtype,
          .tf32 = takes_tf32(context.node),
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

class TransposedConvolution : public Tactic {
 public:
  explicit TransposedConvolution(Device& device) : device_(device) {}
  std::string_view name() const override { return "tiled.transposed_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("ConvTranspose")) return Support::other_operator("not a ConvTranspose");
    if (Support sliding = supports_sliding(context); !sliding) return sliding;
    if (context.node.attributes.integer("group", 1) != 1) return Support::no("it has several groups");
    if (!has_whole_phases(shape_of(context))) return Support::no("its filters are not a multiple of 8");
    return {};
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    const int channels = static_cast<int>(context.input(0).type.shape[1]);
    return channels % 8 == 0 && supports_pitches(context, 8, 8);
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    return tile_configurations(phases_of(shape_of(context)), limits_of(device_), count, context.configuration);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const TransposedShape shape = shape_of(context);
    ConvolutionShape phases = phases_of(shape);
    const auto pitch = [](const Value& value, const StorageView& view, int dense) {
      return static_cast<int>(pixel_pitch(value.type.shape, view).value_or(dense));
    };
    phases.in_pitch = pitch(context.input(0), context.input_storage(0), phases.in_pitch);
    phases.out_pitch = pitch(context.output(), context.output_storage(), phases.out_pitch);
    const ConvolutionTile tile = configured_tile(phases, limits_of(device_), context.configuration);
    return make_launch(device_, context,
                       convolution_program(context, phases, tile, phase_weights(shape, floats_of(*context.constant(1))),
                                           phase_bias(shape, bias_of(context))));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> tiled_transposed_convolution(Device& device) {
  return std::make_unique<TransposedConvolution>(device);
}

}  // namespace saccade::cuda
