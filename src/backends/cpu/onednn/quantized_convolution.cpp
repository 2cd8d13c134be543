#include <algorithm>

#include "cpu/kernels/sample_kernels.hpp"
#include "cpu/onednn/byte_weights.hpp"
#include "cpu/onednn/onednn.hpp"
#include "cpu/onednn/onednn_window.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"

// QLinearConv with oneDNN: int32 sums, requantised with one factor per filter. oneDNN adds the output's zero point
// before it rounds, which costs low bits: one element in a million differs by one step. Therefore an output with a zero
// point leaves oneDNN as float32 and is rounded by our own kernel; the result equals the reference exactly.
namespace saccade::cpu {
namespace {

using dnnl::memory;
using Descriptor = dnnl::convolution_forward::primitive_desc;

// QLinearConv's inputs.
enum : int { kSrc, kSrcScale, kSrcZero, kWeights, kWeightsScale, kWeightsZero, kDstScale, kDstZero, kBias };

int zero_point(const NodeContext& context, int i) {
  const auto values = bytes_of_constant(context, i);
  return values.empty() ? 0 : values[0];
}

/// The weights minus their zero points; nullopt if a difference does not fit int8.
std::optional<Tensor> centered_bytes(const NodeContext& context) {
  return as_bytes(centered_weights(context, kWeights, kWeightsZero), context.input(kWeights).type.shape);
}

Shape weights_shape(const NodeContext& context) {
  return grouped(context.input(kWeights).type.shape, context.node.attributes.integer("group", 1));
}

dnnl::primitive_attr attributes_of(const NodeContext& context) {
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
  if (zero_point(context, kDstZero) == 0) return describe(output);
  return describe(DType::kFloat32, output.type.shape, output.layout);
}

Descriptor descriptor(const NodeContext& context) {
  const Shape& weights = context.input(kWeights).type.shape;
  const OnednnWindow window(
      slide(context.node.attributes, context.input(kSrc).type.shape, kernel_of(context.node.attributes, weights)));
  const memory::desc packed(onednn_dims(weights_shape(context)), memory::data_type::s8, memory::format_tag::any);
  const memory::desc bias = context.has(kBias) ? describe(context.input(kBias)) : memory::desc();
  const dnnl::convolution_forward::desc operation(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, describe(context.input(kSrc)), packed,
      bias, output_of_primitive(context), window.strides, window.gaps, window.begin, window.end);
  return {operation, attributes_of(context), onednn_engine()};
}

Support check(const NodeContext& context) {
  if (!context.node.is("QLinearConv")) return Support::other_operator("not a QLinearConv");
  if (Support bytes = adds_bytes_exactly(); !bytes) return bytes;
  if (!context.node.post_ops.empty()) return Support::no("post-ops run on float32 only");
  for (const int i : {kSrcScale, kWeightsScale, kDstScale})
    if (context.constant(i) == nullptr || context.constant(i)->dtype() != DType::kFloat32)
      return Support::no("its scales are not float32 constants");
  for (const int i : {kSrcZero, kWeightsZero, kDstZero})
    if (context.has(i) && context.constant(i) == nullptr) return Support::no("its zero points are not constant");
  if (context.constant(kWeights) == nullptr) return Support::no("its weights are not constant");
  if (context.output().type.shape.elements() == 0) return Support::no("a tensor is empty");
  if (!centered_bytes(context)) return Support::no("its weights minus their zero points don't fit into 8 bits");
  return {};
}

/// Rounds the float32 output of a convolution.
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

/// A convolution into the start of the scratch memory, then BoundRounding.
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
      if (context.has(kBias)) tensors.push_back({DNNL_ARG_BIAS, false, kBias, chosen.bias_desc()});
      std::vector<PackedArgument> packed;
      packed.push_back(pack(context, DNNL_ARG_WEIGHTS, centered_bytes(context).value(),
                            describe(DType::kInt8, weights_shape(context), Layout::kRowMajor), chosen.weights_desc()));
      auto launch = onednn_launch<dnnl::convolution_forward>(chosen, std::move(tensors), std::move(packed));
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
