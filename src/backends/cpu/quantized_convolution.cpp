#include <algorithm>

#include "cpu/onednn.hpp"
#include "cpu/onednn_window.hpp"
#include "cpu/parallel.hpp"
#include "cpu/sample_kernels.hpp"
#include "cpu/tactics.hpp"

// QLinearConv and ConvInteger by oneDNN: 8-bit sums in int32. QLinearConv requantises them by one factor a filter.
// oneDNN adds an output's zero point before it rounds, which costs the last bits of what is rounded: one element in a
// million came out a step off. So an output that has a zero point leaves oneDNN as float32 and is rounded by our own
// kernel. ConvInteger leaves the sums as they are; the zero point of its input is known to the run alone. The answers
// are the reference's exactly.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::convolution_forward::primitive_desc;

// QLinearConv's inputs.
enum : int { kSrc, kSrcScale, kSrcZero, kWeights, kWeightsScale, kWeightsZero, kDstScale, kDstZero, kBias };

bool is_byte(DType dtype) { return dtype == DType::kInt8 || dtype == DType::kUInt8; }

constexpr std::string_view kIntegers = "ConvInteger";

/// Where the inputs stand that QLinearConv and ConvInteger share; the image comes first.
struct Places {
  int src_zero;
  int weights;
  int weights_zero;
};

bool leaves_integers(const NodeContext& context) { return context.node.op == kIntegers; }

Places places_of(const NodeContext& context) {
  if (leaves_integers(context)) return {.src_zero = 2, .weights = 1, .weights_zero = 3};
  return {.src_zero = kSrcZero, .weights = kWeights, .weights_zero = kWeightsZero};
}

/// A byte tensor's elements; empty where the input is left out or not constant.
std::vector<int> bytes_of_constant(const NodeContext& context, int i) {
  const Tensor* tensor = context.constant(i);
  std::vector<int> values;
  if (tensor == nullptr || !is_byte(tensor->dtype())) return values;
  if (tensor->dtype() == DType::kUInt8)
    for (const std::uint8_t value : tensor->data<std::uint8_t>()) values.push_back(value);
  else
    for (const std::int8_t value : tensor->data<std::int8_t>()) values.push_back(value);
  return values;
}

int zero_point(const NodeContext& context, int i) {
  const auto values = bytes_of_constant(context, i);
  return values.empty() ? 0 : values[0];
}

/// The weights less their zero points; empty where a difference does not fit into a byte.
std::optional<Tensor> centered_weights(const NodeContext& context) {
  const Places places = places_of(context);
  const auto weights = bytes_of_constant(context, places.weights);
  auto zeros = bytes_of_constant(context, places.weights_zero);
  if (zeros.empty()) zeros.push_back(0);
  Tensor centered(DType::kInt8, context.input(places.weights).type.shape);
  const std::size_t filter = weights.size() / static_cast<std::size_t>(centered.shape()[0]);
  const auto to = centered.data<std::int8_t>();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const int value = weights[i] - zeros[zeros.size() == 1 ? 0 : i / filter];
    if (value < -128 || value > 127) return std::nullopt;
    to[i] = static_cast<std::int8_t>(value);
  }
  return centered;
}

/// oneDNN takes sums through float32 even where it leaves them as int32. Whether these have room there: no part of a
/// sum, be it products, what a zero point adds or both, is beyond 255 times the filter's weights of one sign.
bool fits_float(const Tensor& weights) {
  constexpr std::int64_t kMost = (1 << 24) / 255;
  const auto values = weights.data<std::int8_t>();
  const std::size_t filter = values.size() / static_cast<std::size_t>(weights.shape()[0]);
  for (std::size_t first = 0; first < values.size(); first += filter) {
    std::int64_t above = 0;
    std::int64_t below = 0;
    for (const std::int8_t value : values.subspan(first, filter)) (value > 0 ? above : below) += value;
    if (above > kMost || -below > kMost) return false;
  }
  return true;
}

Shape grouped(const Shape& weights, std::int64_t groups) {
  if (groups == 1) return weights;
  Shape shape{groups, weights[0] / groups};
  for (int i = 1; i < weights.rank(); ++i) shape.push_back(weights[i]);
  return shape;
}

Shape weights_shape(const NodeContext& context) {
  return grouped(context.input(places_of(context).weights).type.shape, context.node.attributes.integer("group", 1));
}

dnnl::primitive_attr attributes_of(const NodeContext& context) {
  if (leaves_integers(context)) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (context.has(places_of(context).src_zero)) attributes.set_zero_points(DNNL_ARG_SRC, 0, {DNNL_RUNTIME_S32_VAL});
    return attributes;
  }
  const float src = context.constant(kSrcScale)->data<float>()[0];
  const float dst = context.constant(kDstScale)->data<float>()[0];
  std::vector<float> factors;
  for (const float weights : context.constant(kWeightsScale)->data<float>()) factors.push_back(src * weights / dst);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_output_scales(factors.size() == 1 ? 0 : 1 << 1, factors);
  if (const int zero = zero_point(context, kSrcZero); zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {zero});
  return attributes;
}

memory::desc output_of_primitive(const NodeContext& context) {
  const Value& output = context.output();
  if (leaves_integers(context) || zero_point(context, kDstZero) == 0) return describe(output);
  return describe(DType::kFloat32, output.type.shape, output.layout);
}

bool has_bias(const NodeContext& context) { return !leaves_integers(context) && context.has(kBias); }

Descriptor descriptor(const NodeContext& context) {
  const Shape& weights = context.input(places_of(context).weights).type.shape;
  const OnednnWindow window(
      slide(context.node.attributes, context.input(kSrc).type.shape, kernel_of(context.node.attributes, weights)));
  const memory::desc packed(onednn_dims(weights_shape(context)), memory::data_type::s8, memory::format_tag::any);
  const memory::desc bias = has_bias(context) ? describe(context.input(kBias)) : memory::desc();
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, describe(context.input(kSrc)), packed,
      bias, output_of_primitive(context), window.strides, window.gaps, window.begin, window.end);
  return {operation, attributes_of(context), onednn_engine()};
}

/// What only QLinearConv has.
Support check_constants(const NodeContext& context) {
  for (const int i : {kSrcScale, kWeightsScale, kDstScale})
    if (context.constant(i) == nullptr || context.constant(i)->dtype() != DType::kFloat32)
      return Support::no("its scales are not float32 constants");
  for (const int i : {kSrcZero, kDstZero})
    if (context.has(i) && context.constant(i) == nullptr) return Support::no("its zero points are not constant");
  return {};
}

Support check(const NodeContext& context) {
  if (!context.node.is("QLinearConv") && !context.node.is(kIntegers))
    return Support::other_operator("not a convolution of bytes");
  if (Support bytes = adds_bytes_exactly(); !bytes) return bytes;
  if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
  const Places places = places_of(context);
  if (!leaves_integers(context)) {
    if (Support constants = check_constants(context); !constants) return constants;
  }
  if (context.has(places.weights_zero) && context.constant(places.weights_zero) == nullptr)
    return Support::no("its zero points are not constant");
  if (context.constant(places.weights) == nullptr) return Support::no("its weights are not constant");
  if (context.output().type.shape.elements() == 0) return Support::no("a tensor is empty");
  const auto weights = centered_weights(context);
  if (!weights) return Support::no("its weights less their zero points don't fit into 8 bits");
  if (leaves_integers(context) && !fits_float(*weights))
    return Support::no("its sums may be beyond 2^24: oneDNN takes them through float32");
  return {};
}

/// Rounds what a convolution left as float32.
class BoundRounding : public BoundLaunch {
 public:
  BoundRounding(std::unique_ptr<BoundLaunch> convolution, const TensorView& real, const TensorView& stored, float zero)
      : convolution_(std::move(convolution)), real_(real), stored_(stored), zero_(zero) {}

  void run() override {
    convolution_->run();
    const auto* src = static_cast<const float*>(real_.data);
    parallel_for(real_.elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
      const auto count = static_cast<std::size_t>(end - begin);
      if (stored_.dtype == DType::kUInt8)
        sample_kernels().quantize_u8(src + begin, 1, zero_, static_cast<std::uint8_t*>(stored_.data) + begin, count);
      else
        sample_kernels().quantize_s8(src + begin, 1, zero_, static_cast<std::int8_t*>(stored_.data) + begin, count);
    });
  }

 private:
  std::unique_ptr<BoundLaunch> convolution_;
  TensorView real_;
  TensorView stored_;
  float zero_;
};

/// A convolution into the front of the scratch, then BoundRounding.
class RoundingLaunch : public Launch {
 public:
  RoundingLaunch(std::unique_ptr<Launch> convolution, const Shape& shape, int zero)
      : convolution_(std::move(convolution)),
        real_bytes_((bytes_of(DType::kFloat32, shape) + 63) / 64 * 64),
        zero_(static_cast<float>(zero)) {}

  std::size_t scratch_bytes() const override { return real_bytes_ + convolution_->scratch_bytes(); }
  std::string detail() const override { return convolution_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    TensorView real = bindings.outputs[0];
    real.dtype = DType::kFloat32;
    real.data = bindings.scratch;
    return std::make_unique<BoundRounding>(
        convolution_->bind(
            {.inputs = bindings.inputs, .outputs = {&real, 1}, .scratch = bindings.scratch + real_bytes_}),
        real, bindings.outputs[0], zero_);
  }

 private:
  std::unique_ptr<Launch> convolution_;
  std::size_t real_bytes_;
  float zero_;
};

/// Reads the input's zero point, then convolves.
class BoundMoved : public BoundLaunch {
 public:
  BoundMoved(std::unique_ptr<BoundLaunch> convolution, const TensorView& zero, std::int32_t* wide)
      : convolution_(std::move(convolution)), zero_(zero), wide_(wide) {}

  void run() override {
    *wide_ = zero_.dtype == DType::kUInt8 ? *static_cast<const std::uint8_t*>(zero_.data)
                                          : *static_cast<const std::int8_t*>(zero_.data);
    convolution_->run();
  }

 private:
  std::unique_ptr<BoundLaunch> convolution_;
  TensorView zero_;
  std::int32_t* wide_;
};

/// A convolution whose second input is the zero point as int32, at the front of the scratch; the node has it as input
/// ZERO.
class MovedLaunch : public Launch {
 public:
  MovedLaunch(std::unique_ptr<Launch> convolution, int zero) : convolution_(std::move(convolution)), zero_(zero) {}

  std::size_t scratch_bytes() const override { return kWideBytes + convolution_->scratch_bytes(); }
  std::string detail() const override { return convolution_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    const TensorView inputs[] = {bindings.inputs[0], {bindings.scratch, DType::kInt32, Layout::kRowMajor, {}}};
    auto convolution =
        convolution_->bind({.inputs = inputs, .outputs = bindings.outputs, .scratch = bindings.scratch + kWideBytes});
    return std::make_unique<BoundMoved>(std::move(convolution), bindings.inputs[static_cast<std::size_t>(zero_)],
                                        reinterpret_cast<std::int32_t*>(bindings.scratch));
  }

 private:
  static constexpr std::size_t kWideBytes = 64;
  std::unique_ptr<Launch> convolution_;
  int zero_;
};

class QuantizedConvolution : public Tactic {
 public:
  std::string_view name() const override { return "onednn.quantized_convolution"; }

  Support supports(const NodeContext& context) const override {
    if (Support checked = check(context); !checked) return checked;
    return onednn_supports(context, [&] { descriptor(context); });
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return onednn_compile(context, [&]() -> std::unique_ptr<Launch> {
      const Descriptor chosen = descriptor(context);
      std::vector<TensorArgument> tensors{{DNNL_ARG_SRC, false, kSrc, chosen.src_desc()},
                                          {DNNL_ARG_DST, true, 0, chosen.dst_desc()}};
      if (has_bias(context)) tensors.push_back({DNNL_ARG_BIAS, false, kBias, chosen.bias_desc()});
      const Places places = places_of(context);
      const bool reads_zero = leaves_integers(context) && context.has(places.src_zero);
      if (reads_zero)
        tensors.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, false, 1, describe(DType::kInt32, {}, {})});
      std::vector<PackedArgument> packed;
      packed.push_back(pack(context, DNNL_ARG_WEIGHTS, centered_weights(context).value(),
                            describe(DType::kInt8, weights_shape(context), Layout::kRowMajor), chosen.weights_desc()));
      auto launch = onednn_launch<dnnl::convolution_forward>(chosen, std::move(tensors), std::move(packed));
      if (reads_zero) return std::make_unique<MovedLaunch>(std::move(launch), places.src_zero);
      if (leaves_integers(context)) return launch;
      const int zero = zero_point(context, kDstZero);
      if (zero == 0) return launch;
      return std::make_unique<RoundingLaunch>(std::move(launch), context.output().type.shape, zero);
    });
  }
};

}  // namespace

const Tactic& onednn_quantized_convolution() {
  static const QuantizedConvolution tactic;
  return tactic;
}

}  // namespace saccade::cpu
