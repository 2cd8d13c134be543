#include "cpu/kernels/half_kernels.hpp"
#include "cpu/kernels/integer_kernels.hpp"
#include "cpu/kernels/sample_kernels.hpp"
#include "cpu/loops/lines.hpp"
#include "cpu/tactics/tactics.hpp"
#include "cpu/team/parallel.hpp"
#include "ops/elementwise/cast.hpp"

// Element type conversions: Cast, QuantizeLinear and DequantizeLinear with one scale per tensor.
namespace saccade::cpu {
namespace {

/// COUNT elements of VIEW from BEGIN on, as a rank-1 tensor.
TensorView part(const TensorView& view, std::int64_t begin, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(bits_of(view.dtype) / 8);
  return {static_cast<std::byte*>(view.data) + begin * size, view.dtype, Layout::kRowMajor, Shape{count}};
}

void cast(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  parallel_for(inputs[0].elements(), kParallelGrain / 4, [&](std::int64_t begin, std::int64_t end) {
    cast_elements(part(inputs[0], begin, end - begin), part(outputs[0], begin, end - begin));
  });
}

void widen(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const std::uint16_t*>(inputs[0].data);
  auto* dst = static_cast<float*>(outputs[0].data);
  parallel_for(inputs[0].elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    half_kernels().widen({src + begin, 0}, {dst + begin, 0}, 1, static_cast<std::size_t>(end - begin));
  });
}

void narrow(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const float*>(inputs[0].data);
  auto* dst = static_cast<std::uint16_t*>(outputs[0].data);
  parallel_for(inputs[0].elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    half_kernels().narrow({src + begin, 0}, {dst + begin, 0}, 1, static_cast<std::size_t>(end - begin));
  });
}

/// Cast of the int32 sums of an int8 GEMM.
void cast_sums(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const auto* src = static_cast<const std::int32_t*>(inputs[0].data);
  auto* dst = static_cast<float*>(outputs[0].data);
  parallel_for(inputs[0].elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    integer_kernels().to_float(src + begin, dst + begin, static_cast<std::size_t>(end - begin));
  });
}

/// The zero point; 0 if it is omitted.
float zero_point_of(std::span<const TensorView> inputs) {
  if (inputs.size() < 3 || inputs[2].data == nullptr) return 0;
  if (inputs[2].dtype == DType::kUInt8) return *static_cast<const std::uint8_t*>(inputs[2].data);
  return *static_cast<const std::int8_t*>(inputs[2].data);
}

template <typename Stored>
void quantize(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const float scale = *static_cast<const float*>(inputs[1].data);
  const float zero_point = zero_point_of(inputs);
  parallel_for(inputs[0].elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    const float* src = static_cast<const float*>(inputs[0].data) + begin;
    Stored* dst = static_cast<Stored*>(outputs[0].data) + begin;
    if constexpr (std::is_same_v<Stored, std::uint8_t>)
      sample_kernels().quantize_u8(src, scale, zero_point, dst, static_cast<std::size_t>(end - begin));
    else
      sample_kernels().quantize_s8(src, scale, zero_point, dst, static_cast<std::size_t>(end - begin));
  });
}

template <typename Stored>
void dequantize(std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
  const float scale = *static_cast<const float*>(inputs[1].data);
  const float zero_point = zero_point_of(inputs);
  parallel_for(inputs[0].elements(), kParallelGrain, [&](std::int64_t begin, std::int64_t end) {
    const Stored* src = static_cast<const Stored*>(inputs[0].data) + begin;
    float* dst = static_cast<float*>(outputs[0].data) + begin;
    if constexpr (std::is_same_v<Stored, std::uint8_t>)
      sample_kernels().dequantize_u8(src, scale, zero_point, dst, static_cast<std::size_t>(end - begin));
    else
      sample_kernels().dequantize_s8(src, scale, zero_point, dst, static_cast<std::size_t>(end - begin));
  });
}

class Convert : public Tactic {
 public:
  std::string_view name() const override { return "vector.convert"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    const bool casts = node.is("Cast");
    if (!casts && !node.is("QuantizeLinear") && !node.is("DequantizeLinear"))
      return Support::other_operator("it does not only convert elements");
    const Value& src = context.input(0);
    const Value& dst = context.output();
    if (src.layout != dst.layout && src.type.shape.rank() >= 3)
      return Support::no("its input and output have different layouts");
    if (casts) {
      for (const DType dtype : {src.type.dtype, dst.type.dtype})
        if (dtype > DType::kBool || bits_of(dtype) % 8 != 0) return Support::no("only numbers have a kernel");
      return supports_post_ops(context);
    }
    const bool quantizes = node.is("QuantizeLinear");
    const DType stored = (quantizes ? dst : src).type.dtype;
    const DType real = (quantizes ? src : dst).type.dtype;
    if (real != DType::kFloat32 || (stored != DType::kUInt8 && stored != DType::kInt8))
      return Support::no("only float32 from and to 8 bits has a vector kernel");
    if (context.input(1).type.dtype != DType::kFloat32 || context.input(1).type.shape.elements() != 1)
      return Support::no("it has a scale for every slice");
    if (node.attributes.integer("precision", 1) > 1) return Support::no("it divides in half precision");
    return supports_post_ops(context);
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Node& node = context.node;
    const bool is_unsigned =
        (node.is("QuantizeLinear") ? context.output() : context.input(0)).type.dtype == DType::kUInt8;
    const auto converts = [&](DType from, DType to) {
      return context.input(0).type.dtype == from && context.output().type.dtype == to;
    };
    ViewWork work = cast;
    if (converts(DType::kInt32, DType::kFloat32)) work = cast_sums;
    if (converts(DType::kBFloat16, DType::kFloat32)) work = widen;
    if (converts(DType::kFloat32, DType::kBFloat16)) work = narrow;
    if (node.is("QuantizeLinear")) work = is_unsigned ? quantize<std::uint8_t> : quantize<std::int8_t>;
    if (node.is("DequantizeLinear")) work = is_unsigned ? dequantize<std::uint8_t> : dequantize<std::int8_t>;
    return with_post_ops(context, launch_of(std::move(work)));
  }
};

}  // namespace

const Tactic& vector_convert() {
  static const Convert tactic;
  return tactic;
}

}  // namespace saccade::cpu
