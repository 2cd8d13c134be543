#include "cuda/tactics/convolution.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cuda/codegen/element_code.hpp"
#include "cuda/codegen/element_functions.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/plans/gemm_plan.hpp"
#include "ops/core/tf32.hpp"
#include "ops/layers/convolve.hpp"
#include "runtime/storage_alias.hpp"
#include "tensor/half.hpp"

namespace saccade::cuda {

std::vector<float> floats_of(const Tensor& tensor) {
  const auto widened = [&]<typename T>(std::span<const T> values) {
    return std::vector<float>(values.begin(), values.end());
  };
  switch (tensor.dtype()) {
    case DType::kFloat32: return widened(std::span<const float>(tensor.data<float>()));
    case DType::kFloat16: return widened(std::span<const Float16>(tensor.data<Float16>()));
    case DType::kBFloat16: return widened(std::span<const BFloat16>(tensor.data<BFloat16>()));
    default: fail(ErrorCode::kUnsupported, "a constant of {} is no float", to_string(tensor.dtype()));
  }
}

DeviceLimits limits_of(const Device& device) {
  return {.multiprocessors = device.multiprocessors(),
          .shared_bytes = device.shared_memory_bytes(),
          .clusters = device.capability() >= 90};
}

bool is_channels_last(const Value& value) {
  if (value.layout == Layout::kChannelsLast) return true;
  const Shape& shape = value.type.shape;
  return shape[1] == 1 || std::all_of(shape.begin() + 2, shape.end(), [](std::int64_t length) { return length == 1; });
}

bool supports_pitches(const NodeContext& context, int in, int out) {
  const auto fits = [&](const Value& value, const StorageView& view, int vector) {
    const std::optional<std::int64_t> pitch = pixel_pitch(value.type.shape, view);
    return pitch && *pitch % vector == 0 && view.offset % vector == 0;
  };
  if (!fits(context.input(0), context.input_storage(0), in) || !fits(context.output(), context.output_storage(), out))
    return false;
  return std::ranges::all_of(context.node.post_ops, [&](const PostOp& post) {
    return post.operand < 0 || fits(context.input(post.operand), context.input_storage(post.operand), out);
  });
}

namespace {

/// The largest power of two up to MOST that divides COUNT.
int vector_of(int count, int most) {
  while (count % most != 0) most /= 2;
  return most;
}

}  // namespace

ConvolutionShape convolution_shape(const NodeContext& context, int weights) {
  const Value& input = context.input(0);
  const Value& output = context.output();
  const ConvShape conv = conv_shape(context.node.attributes, input.type.shape, context.input(weights).type.shape);
  const Window& window = conv.window;
  const auto length = [](std::int64_t value) { return static_cast<int>(value); };
  return {.dtype = input.type.dtype,
          .tf32 = takes_tf32(context.node),
          .images = length(conv.batch),
          .height = length(window.in[1]),
          .width = length(window.in[2]),
          .in_pitch = length(pixel_pitch(input.type.shape, context.input_storage(0)).value_or(conv.channels)),
          .groups = length(conv.groups),
          .channels = length(conv.channels / conv.groups),
          .out_height = length(window.out[1]),
          .out_width = length(window.out[2]),
          .out_pitch = length(pixel_pitch(output.type.shape, context.output_storage()).value_or(conv.filters)),
          .filters = length(conv.filters / conv.groups),
          .kernel_height = length(window.kernel[1]),
          .kernel_width = length(window.kernel[2]),
          .stride_y = length(window.stride[1]),
          .stride_x = length(window.stride[2]),
          .pad_y = length(window.pad_begin[1]),
          .pad_x = length(window.pad_begin[2]),
          .dilation_y = length(window.dilation[1]),
          .dilation_x = length(window.dilation[2])};
}

namespace {

/// Offset of a post-op's operand for output offset "offset"; pixel pitches may differ.
std::string operand_offset(const NodeContext& context, int operand) {
  const Shape& shape = context.output().type.shape;
  if (!context.has_aliased_operands()) return "offset";
  const std::int64_t own = pixel_pitch(shape, context.input_storage(operand)).value();
  const std::int64_t pitch = pixel_pitch(shape, context.output_storage()).value();
  return own == pitch ? "offset" : fmt::format("offset / {} * {} + offset % {}", pitch, own, pitch);
}

}  // namespace

PostOpsText post_ops_text(const NodeContext& context, std::vector<Argument>& arguments) {
  if (context.node.post_ops.empty()) return {};
  ElementCode code(context);
  const std::string result = code.post_ops("x[i]", "i");
  const std::vector<Argument> reads = code.arguments();
  PostOpsText text;
  std::string members;
  std::string packs;
  std::string loads;
  std::string names;
  std::string values;
  for (const Argument& read : reads) {
    const std::string_view type = storage_name(context.input(static_cast<int>(read.index)).type.dtype);
    members += fmt::format("  const {}* __restrict__ in{};\n", type, read.index);
    packs += fmt::format("    Packed<{}, N> in{};\n", type, read.index);
    loads += fmt::format("{}load_packed<N>(in{} + {})", loads.empty() ? "" : ", ", read.index,
                         operand_offset(context, static_cast<int>(read.index)));
    names += fmt::format("    const auto& in{0} = operands.in{0}.data;\n", read.index);
    values += fmt::format("{}in{}", values.empty() ? "" : ", ", read.index);
    arguments.push_back(read);
  }
  const bool half = context.output().type.dtype != DType::kFloat32;
  text.definition =
      fmt::format(R"(#include "{}.cuh"
struct PostOps {{
{}  template <int N>
  struct Operands {{
{}  }};
  template <int N>
  __device__ __forceinline__ Operands<N> load(int offset) const {{
    return {{{}}};
  }}
  template <int N>
  __device__ __forceinline__ void apply(float (&x)[N], const Operands<N>& operands) const {{
{}#pragma unroll
    for (int i = 0; i < N; ++i) {{
{}      x[i] = {};
    }}
  }}
}};
)",
                  half ? "fast_activations" : "elements", members, packs, loads, names, code.body(), result);
  if (!reads.empty()) text.parameters = ", " + code.parameters();
  text.value = "PostOps{" + values + "}";
  return text;
}

NodeProgram convolution_program(const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::vector<std::byte> weights, std::vector<std::byte> bias,
                                const PostOpsText& post_ops, const std::vector<Argument>& operands) {
  using Kind = Argument::Kind;
  NodeProgram program;
  program.detail = tile.to_string();
  program.packed.push_back(std::move(weights));
  program.packed.push_back(std::move(bias));
  KernelCall call;
  call.name = "convolution";
  call.arguments = {{Kind::kInput, 0}, {Kind::kPacked, 0}, {Kind::kPacked, 1}};
  call.arguments.insert(call.arguments.end(), operands.begin(), operands.end());
  call.source = convolution_source(shape, tile, post_ops);
  call.arguments.push_back({Kind::kOutput, 0});
  const ConvolutionGrid grid = convolution_grid(shape, tile);
  call.grid = {.blocks = {static_cast<unsigned>(grid.pixels), static_cast<unsigned>(grid.filters),
                          static_cast<unsigned>(grid.split)},
               .threads = {static_cast<unsigned>(tile.threads()), 1, 1},
               .shared_bytes = static_cast<unsigned>(convolution_shared_bytes(shape, tile))};
  program.calls.push_back(std::move(call));
  return program;
}

NodeProgram convolution_program(const NodeContext& context, const ConvolutionShape& shape, const ConvolutionTile& tile,
                                std::span<const float> weights, std::span<const float> bias) {
  std::vector<Argument> operands;
  const PostOpsText post_ops = post_ops_text(context, operands);
  return convolution_program(shape, tile, pack_convolution_weights(shape, tile, weights),
                             pack_convolution_bias(shape, tile, bias), post_ops, operands);
}

Support supports_image(const Value& value, DType type) {
  constexpr std::int64_t kMaxLength = 16384;  // coordinates are packed in 16 bits
  const Shape& shape = value.type.shape;
  if (value.type.dtype != type) return Support::no("its tensors have different types");
  if (shape.rank() > 4) return Support::no("it has more than two spatial dimensions");
  if (!is_channels_last(value)) return Support::no("its tensors are not channels-last");
  if (shape.elements() >= kMaxElements) return Support::no("its tensors are too large");
  if (shape.elements() == 0) return Support::no("its tensors are empty");
  for (int i = 2; i < shape.rank(); ++i)
    if (shape[i] > kMaxLength) return Support::no("its images are too large");
  return {};
}

Support supports_sliding(const NodeContext& context) {
  const DType type = context.input(0).type.dtype;
  if (!is_computed_in_float(type))
    return Support::no(fmt::format("{} is not float32, float16 or bfloat16", to_string(type)));
  if (context.constant(1) == nullptr) return Support::no("the weights are not constant");
  if (context.has(2) && context.constant(2) == nullptr) return Support::no("the bias is not constant");
  for (const Value* value : {&context.input(0), &context.output()})
    if (Support image = supports_image(*value, type); !image) return image;
  return supports_post_ops(context);
}

std::vector<float> bias_of(const NodeContext& context) {
  return context.has(2) ? floats_of(*context.constant(2)) : std::vector<float>();
}

namespace {

class TiledConvolution : public Tactic {
 public:
  explicit TiledConvolution(Device& device) : device_(device) {}
  std::string_view name() const override { return "tiled.convolution"; }

  Support supports(const NodeContext& context) const override {
    return context.node.is("Conv") ? supports_sliding(context) : Support::other_operator("not a Conv");
  }

  /// Inputs are loaded in vectors of 16 or 4 bytes; the epilogue stores vectors of up to 8 elements.
  bool supports_strided_operands(const NodeContext& context) const override {
    const ConvolutionShape shape = convolution_shape(context);
    const int bytes = static_cast<int>(bits_of(shape.dtype)) / 8;
    const int vector = shape.channels % (16 / bytes) == 0  ? 16 / bytes
                       : shape.channels % (4 / bytes) == 0 ? 4 / bytes
                                                           : 1;
    return supports_pitches(context, vector, vector_of(shape.filters, 8));
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    return tile_configurations(convolution_shape(context), limits_of(device_), count, context.configuration);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ConvolutionShape shape = convolution_shape(context);
    const ConvolutionTile tile = configured_tile(shape, limits_of(device_), context.configuration);
    return make_launch(device_, context,
                       convolution_program(context, shape, tile, floats_of(*context.constant(1)), bias_of(context)));
  }

 private:
  Device& device_;
};

class DepthwiseConvolution : public Tactic {
 public:
  explicit DepthwiseConvolution(Device& device) : device_(device) {}
  std::string_view name() const override { return "depthwise.convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
    if (Support sliding = supports_sliding(context); !sliding) return sliding;
    if (!is_depthwise(convolution_shape(context))) return Support::no("it is not depthwise");
    return {};
  }

  bool supports_strided_operands(const NodeContext& context) const override {
    const int vector = depthwise_tiles(convolution_shape(context), limits_of(device_)).front().vector;
    return supports_pitches(context, vector, vector);
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    std::vector<std::string> texts;
    for (const DepthwiseTile& tile : depthwise_tiles(convolution_shape(context), limits_of(device_)))
      if (texts.size() < count) texts.push_back(tile.to_string());
    return texts;
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    using Kind = Argument::Kind;
    const ConvolutionShape shape = convolution_shape(context);
    const DepthwiseTile tile = configured_depthwise_tile(shape, limits_of(device_), context.configuration);
    std::vector<float> bias = bias_of(context);
    bias.resize(static_cast<std::size_t>(shape.groups));
    NodeProgram program;
    program.detail = tile.to_string();
    program.packed.push_back(pack_depthwise_weights(shape, floats_of(*context.constant(1))));
    const auto bytes = std::as_bytes(std::span(bias));
    program.packed.emplace_back(bytes.begin(), bytes.end());
    KernelCall call;
    call.name = "depthwise";
    call.arguments = {{Kind::kInput, 0}, {Kind::kPacked, 0}, {Kind::kPacked, 1}};
    call.source = depthwise_source(shape, tile, post_ops_text(context, call.arguments));
    call.arguments.push_back({Kind::kOutput, 0});
    call.grid = {.blocks = {static_cast<unsigned>(depthwise_blocks(shape, tile)), 1, 1},
                 .threads = {static_cast<unsigned>(tile.threads), 1, 1}};
    program.calls.push_back(std::move(call));
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> depthwise_convolution(Device& device) { return std::make_unique<DepthwiseConvolution>(device); }
std::unique_ptr<Tactic> tiled_convolution(Device& device) { return std::make_unique<TiledConvolution>(device); }

}  // namespace saccade::cuda
