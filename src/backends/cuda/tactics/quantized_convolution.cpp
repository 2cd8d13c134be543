#include <algorithm>

#include "cuda/codegen/quantization_code.hpp"
#include "cuda/kernels/memory_layouts.hpp"
#include "cuda/tactics/convolution.hpp"

// QLinearConv by kernels/convolution.cuh on integer tensor cores, exact. The input zero point contributes a constant
// per filter, since padding equals the zero point:
//   sum (x - zero) w = sum x w - zero sum w.
namespace saccade::cuda {
namespace {

// Inputs of QLinearConv.
enum Place { kInput, kInputScale, kInputZero, kWeights, kWeightScale, kWeightZero, kOutputScale, kOutputZero, kBias };

/// Elements of constant input I, 8-bit or int32; 0 if absent.
std::vector<std::int64_t> integers(const NodeContext& context, int i) {
  const Tensor* constant = context.constant(i);
  if (constant == nullptr) return {0};
  const auto widened = [&]<typename T>(std::span<const T> values) {
    return std::vector<std::int64_t>(values.begin(), values.end());
  };
  switch (constant->dtype()) {
    case DType::kInt8: return widened(std::span<const std::int8_t>(constant->data<std::int8_t>()));
    case DType::kUInt8: return widened(std::span<const std::uint8_t>(constant->data<std::uint8_t>()));
    default: return widened(std::span<const std::int32_t>(constant->data<std::int32_t>()));
  }
}

/// Per tensor, or per FILTER.
template <typename T>
T of_filter(const std::vector<T>& values, std::size_t filter) {
  return values.size() == 1 ? values[0] : values[filter];
}

/// Weights minus their zero points, in ONNX order.
std::vector<std::int64_t> centered_weights(const NodeContext& context) {
  std::vector<std::int64_t> weights = integers(context, kWeights);
  const std::vector<std::int64_t> zeros = integers(context, kWeightZero);
  const std::size_t row = weights.size() / static_cast<std::size_t>(context.input(kWeights).type.shape[0]);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= of_filter(zeros, i / row);
  return weights;
}

ConvolutionShape byte_shape(const NodeContext& context) {
  ConvolutionShape shape = convolution_shape(context, kWeights);
  shape.channels /= 2;
  shape.in_pitch /= 2;
  shape.out_dtype = context.output().type.dtype;
  shape.padding = static_cast<int>(integers(context, kInputZero)[0]);
  return shape;
}

/// Weights of adjacent channels as pairs of bytes.
std::vector<float> paired(const ConvolutionShape& shape, const std::vector<std::int64_t>& weights) {
  std::vector<float> pairs;
  pairs.reserve(weights.size() / 2);
  const auto taps = static_cast<std::size_t>(shape.taps());
  for (std::size_t first = 0; first < weights.size(); first += 2 * taps)
    for (std::size_t tap = first; tap < first + taps; ++tap)
      pairs.push_back(static_cast<float>((weights[tap] & 255) | (weights[tap + taps] & 255) << 8));
  return pairs;
}

std::vector<ByteBias> biases_of(const NodeContext& context, const std::vector<std::int64_t>& weights) {
  const auto filters = static_cast<std::size_t>(context.input(kWeights).type.shape[0]);
  const std::vector<std::int64_t> given = integers(context, kBias);
  const std::vector<float> scales = floats_of(*context.constant(kWeightScale));
  const float input_scale = floats_of(*context.constant(kInputScale))[0];
  const float output_scale = floats_of(*context.constant(kOutputScale))[0];
  const std::int64_t zero = integers(context, kInputZero)[0];
  const std::size_t row = weights.size() / filters;
  std::vector<ByteBias> biases(filters);
  for (std::size_t i = 0; i < filters; ++i) {
    std::int64_t bias = of_filter(given, i);
    for (std::size_t k = i * row; k < (i + 1) * row; ++k) bias -= zero * weights[k];
    biases[i].bias = static_cast<std::int32_t>(bias);  // wraps around like the accumulator
    biases[i].factor = input_scale * of_filter(scales, i) / output_scale;
  }
  return biases;
}

/// BIASES, padded to whole tiles per group.
std::vector<std::byte> padded(const ConvolutionShape& shape, const ConvolutionTile& tile,
                              const std::vector<ByteBias>& biases) {
  const auto filters = static_cast<std::size_t>(shape.filters);
  const auto tiled = static_cast<std::size_t>(tile.filters);
  const std::size_t length = (filters + tiled - 1) / tiled * tiled;
  std::vector<ByteBias> values(static_cast<std::size_t>(shape.groups) * length);
  for (std::size_t i = 0; i < biases.size(); ++i) values[i / filters * length + i % filters] = biases[i];
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Rounds and saturates to the output's type.
PostOpsText quantizing(const NodeContext& context) {
  const std::string zero = std::to_string(integers(context, kOutputZero)[0]);
  PostOpsText text;
  text.definition = fmt::format(R"(#include "quantization.cuh"
struct PostOps : NoPostOps {{
  template <int N>
  __device__ __forceinline__ void apply(float (&x)[N], const Operands<N>&) const {{
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = float({});
  }}
}};
)",
                                quantized(context.output().type.dtype, "x[i]", zero));
  return text;
}

class QuantizedConvolution : public Tactic {
 public:
  explicit QuantizedConvolution(Device& device) : device_(device) {}
  std::string_view name() const override { return "tiled.quantized_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("QLinearConv")) return Support::other_operator("not a QLinearConv");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    for (int i = kInputScale; i < context.input_count(); ++i)
      if (context.has(i) && context.constant(i) == nullptr)
        return Support::no("its weights, bias, scales or zero points are not constant");
    for (const Value* value : {&context.input(kInput), &context.output()})
      if (Support image = supports_image(*value, value->type.dtype); !image) return image;
    if (context.input(kWeights).type.shape[1] % 2 != 0) return Support::no("its number of channels is odd");
    const auto fits = [](std::int64_t weight) { return weight >= -128 && weight <= 127; };
    if (!std::ranges::all_of(centered_weights(context), fits))
      return Support::no("its weights minus their zero point exceed 8 bits");
    return {};
  }

  std::vector<std::string> configurations(const NodeContext& context, std::size_t count) const override {
    return tile_configurations(byte_shape(context), limits_of(device_), count, context.configuration);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const ConvolutionShape shape = byte_shape(context);
    const ConvolutionTile tile = configured_tile(shape, limits_of(device_), context.configuration);
    const std::vector<std::int64_t> weights = centered_weights(context);
    return make_launch(device_, context,
                       convolution_program(shape, tile, pack_convolution_weights(shape, tile, paired(shape, weights)),
                                           padded(shape, tile, biases_of(context, weights)), quantizing(context), {}));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> tiled_quantized_convolution(Device& device) {
  return std::make_unique<QuantizedConvolution>(device);
}

}  // namespace saccade::cuda
