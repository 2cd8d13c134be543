#include "cuda/codegen/element_tactic.hpp"
#include "cuda/codegen/quantization_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/values.hpp"

// QuantizeLinear and DequantizeLinear: per tensor, per axis, or blocked; one thread per element.
namespace saccade::cuda {
namespace {

Support supports_quantization(const NodeContext& context) {
  if (!context.node.is("QuantizeLinear") && !context.node.is("DequantizeLinear"))
    return Support::other_operator("not a QuantizeLinear or DequantizeLinear");
  return {};
}

/// Index of the scale of element AT.
Index scale_place(const NodeContext& context, const Index& at) {
  const Shape& shape = context.input(0).type.shape;
  const Shape& scales = context.input(1).type.shape;
  if (scales.elements() == 1) return Index(static_cast<std::size_t>(scales.rank()), "0");
  const auto axis =
      static_cast<std::size_t>(InferContext::axis(context.node.attributes.integer("axis", 1), shape.rank()));
  const std::int64_t block = context.node.attributes.integer("block_size", 0);
  if (block == 0) return {at[axis]};
  Index place = at;
  place[axis] = fmt::format("{} / {}", wrapped(at[axis]), block);
  return place;
}

/// Zero point of element AT, whose scale is at PLACE. With a single scale, zero points may still vary along the first
/// axis.
std::string zero_point(ElementCode& code, const Index& place, const Index& at) {
  const NodeContext& context = code.context();
  if (!context.has(2)) return "0";
  const Shape& shape = context.input(2).type.shape;
  Index own = context.input(1).type.shape.elements() == 1 ? Index{at.empty() ? "0" : at[0]} : place;
  if (shape.elements() == 1) own.assign(static_cast<std::size_t>(shape.rank()), "0");
  return code.let("int32", code.input(2, own));
}

/// X rounded to DTYPE, in float.
std::string rounded(DType dtype, const std::string& x) {
  return dtype == DType::kFloat32 ? x : fmt::format("widen(Narrow<{}>::from({}))", storage_name(dtype), x);
}

DType precision_of(const NodeContext& context) {
  const std::int64_t number = context.node.attributes.integer("precision", 0);
  return number == 0 ? context.input(1).type.dtype : dtype_of_onnx(number);
}

std::string quantized_element(ElementCode& code, int /*output*/, const Index& at) {
  const NodeContext& context = code.context();
  const Index place = scale_place(context, at);
  const std::string scale = code.let("float", code.input(1, place));
  const std::string zero = zero_point(code, place, at);
  if (context.node.is("DequantizeLinear"))
    return fmt::format("float(int64({}) - {}) * {}", code.input(0, at), zero, scale);
  const DType precision = precision_of(context);
  const std::string x = code.let("float", rounded(precision, fmt::format("float({})", code.input(0, at))));
  const std::string ratio = code.let("float", rounded(precision, fmt::format("{} / {}", x, rounded(precision, scale))));
  return quantized(context.output().type.dtype, ratio, zero);
}

}  // namespace

std::unique_ptr<Tactic> linear_quantization(Device& device) {
  return element_tactic(device,
                        {"elements.quantization", supports_quantization, quantized_element, "quantization.cuh"});
}

}  // namespace saccade::cuda
