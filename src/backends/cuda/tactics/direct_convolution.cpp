#include "cuda/codegen/window_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/layers/convolve.hpp"

// Conv and ConvTranspose of any groups, strides, dilations and one to three spatial dimensions, one thread per output:
// the fallback of the faster tactics. A transposed convolution gathers as well: each output visits the taps that reach
// it.
namespace saccade::cuda {
namespace {

Support supports_convolution(const NodeContext& context) {
  if (!context.node.is("Conv") && !context.node.is("ConvTranspose"))
    return Support::other_operator("not a convolution");
  return {};
}

/// The shape of a ConvTranspose with weights (channels, filters of a group, kernel).
ConvShape transposed_shape(const Attributes& attributes, const Shape& input, const Shape& weights) {
  const std::int64_t groups = attributes.integer("group", 1);
  return {.batch = input[0],
          .channels = input[1],
          .filters = weights[1] * groups,
          .groups = groups,
          .window = slide_transposed(attributes, input, kernel_of(attributes, weights))};
}

std::string convolution(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const bool transposed = context.node.is("ConvTranspose");
  const Shape& input = context.input(0).type.shape;
  const Shape& weights = context.input(1).type.shape;
  const ConvShape shape = transposed ? transposed_shape(context.node.attributes, input, weights)
                                     : conv_shape(context.node.attributes, input, weights);
  const std::int64_t channels = shape.channels / shape.groups;
  const std::int64_t filters = shape.filters / shape.groups;
  const std::string filter = code.let("int32", at[1]);
  const std::string first_channel =
      shape.groups == 1 ? "0" : code.let("int32", fmt::format("{} / {} * {}", filter, filters, channels));
  const std::string own_filter =
      shape.groups == 1 ? filter : code.let("int32", fmt::format("{} % {}", filter, filters));
  const std::string type(compute_name(context.input(0).type.dtype));
  const std::string sum = declare(code, type, "0");
  {
    Braces braces(code);
    const Tap tap = open_taps(code, braces, shape.window, at, transposed);
    const std::string channel = braces.loop(channels);
    const std::string from = code.let("int32", first_channel + " + " + channel);
    code.line(fmt::format(
        "{} += {} * {};", sum, code.input(0, place_of(at[0], from, tap.input)),
        code.input(1, transposed ? place_of(from, own_filter, tap.kernel) : place_of(filter, channel, tap.kernel))));
  }
  return context.has(2) ? sum + " + " + code.input(2, {filter}) : sum;
}

}  // namespace

std::unique_ptr<Tactic> direct_convolution(Device& device) {
  return element_tactic(device, {"direct.convolution", supports_convolution, convolution});
}

}  // namespace saccade::cuda
