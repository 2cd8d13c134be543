#include "cpu/tactics/product_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu/loops/half_rows.hpp"

namespace saccade::cpu {
namespace {

constexpr int kChannels = 1;  // the dimension

int last_dimension(const NodeContext& context) { return context.output().type.shape.rank() - 1; }

/// Whether the inputs, the operands of post-ops apart, are of DTYPE.
Support have_type(const NodeContext& context, DType dtype) {
  for (int i = 0; i < context.input_count(); ++i)
    if (context.has(i) && context.input(i).type.dtype != dtype)
      return Support::no(fmt::format("only {} tensors are supported", to_string(dtype)));
  return {};
}

Support have_kernels(const NodeContext& context, int channels) {
  std::string why;
  return RowOperations::of(context, channels, why) ? Support{} : Support::no(why);
}

bool transposes(const NodeContext& context, std::string_view attribute) {
  return context.node.is("Gemm") && context.node.attributes.integer(attribute, 0) != 0;
}

float factor(const NodeContext& context, std::string_view attribute) {
  return context.node.is("Gemm") ? context.node.attributes.real(attribute, 1.0F) : 1.0F;
}

Shape right_shape(const NodeContext& context) {
  const Shape& shape = context.input(1).type.shape;
  return transposes(context, "transB") ? Shape{shape[1], shape[0]} : shape;
}

bool is_channels_last(const Value& value) { return value.layout != Layout::kRowMajor && value.type.shape.rank() >= 3; }

Support supports_operands(const NodeContext& context) {
  if (transposes(context, "transA")) return Support::no("its left operand is transposed");
  const Shape& left = context.input(0).type.shape;
  const Shape& right = context.input(1).type.shape;
  if (left.rank() < 2 || right.rank() < 2) return Support::no("an operand is a vector");
  if (left.elements() == 0 || right.elements() == 0) return Support::no("a tensor is empty");
  if (is_channels_last(context.input(0)) || is_channels_last(context.input(1)))
    return Support::no("its operands are channels-last");
  if (is_channels_last(context.output())) return Support::no("its output is channels-last");
  const GemmOperands operands(context);
  if (context.constant(1) == nullptr && (operands.transposes_right || operands.alpha != 1.0F))
    return Support::no("its right operand is transposed or scaled, and not constant");
  if (!context.has(2)) return {};
  if (context.constant(2) == nullptr) return Support::no("its third operand is not constant");
  const Shape& bias = context.input(2).type.shape;
  if (bias.elements() != operands.shape.n || (bias.rank() > 0 && bias.back() != operands.shape.n))
    return Support::no("its third operand is not one number a column");
  return {};
}

/// A pointwise convolution is a GEMM: one row of pixels.
Window flattened(const Window& window) {
  if (!is_pointwise(window)) return window;
  Window flat = window;
  flat.in = flat.out = {1, 1, window.outputs()};
  return flat;
}

Window window_of(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  return slide(attributes, context.input(0).type.shape, kernel_of(attributes, context.input(1).type.shape));
}

}  // namespace

bool is_pointwise(const Window& window) {
  return window.taps() == 1 && window.in == window.out && window.pad_begin == Window::Axes{0, 0, 0} &&
         window.stride == Window::Axes{1, 1, 1};
}

Tensor padded_bias(std::int64_t groups, std::int64_t out_channels, std::int64_t padded, const Tensor* bias,
                   float factor) {
  Tensor made(DType::kFloat32, Shape{groups * padded});
  const auto to = made.data<float>();
  std::ranges::fill(to, 0.0F);
  if (bias == nullptr) return made;
  const std::vector<float> given = floats_of(*bias);
  for (std::int64_t channel = 0; channel < groups * out_channels; ++channel)
    to[static_cast<std::size_t>(channel / out_channels * padded + channel % out_channels)] =
        given[static_cast<std::size_t>(channel)] * factor;
  return made;
}

ConvolutionOperands::ConvolutionOperands(const NodeContext& context)
    : window(flattened(window_of(context))),
      images(context.input(0).type.shape[0]),
      groups(context.node.attributes.integer("group", 1)),
      in_channels(context.input(1).type.shape[1]),
      out_channels(context.input(1).type.shape[0] / groups) {}

Support supports_convolution(const NodeContext& context, DType dtype) {
  constexpr std::int64_t kLeastOfGroup = 8;
  if (!context.node.is("Conv")) return Support::other_operator("not a Conv");
  if (Support types = have_type(context, dtype); !types) return types;
  if (context.constant(1) == nullptr || (context.has(2) && context.constant(2) == nullptr))
    return Support::no("the weights or the bias are not constant");
  if (context.input(0).layout != Layout::kChannelsLast || context.output().layout != Layout::kChannelsLast)
    return Support::no("its tensors are not channels-last");
  if (context.output().type.shape.elements() == 0 || context.input(0).type.shape.elements() == 0)
    return Support::no("a tensor is empty");
  const std::int64_t groups = context.node.attributes.integer("group", 1);
  if (groups > 1 && context.input(1).type.shape[0] / groups < kLeastOfGroup)
    return Support::no("its groups have too few output channels for a vector");
  return have_kernels(context, kChannels);
}

RowOperations convolution_operations(const NodeContext& context) {
  std::string why;
  return RowOperations::of(context, kChannels, why).value();
}

GemmOperands::GemmOperands(const NodeContext& context)
    : shape(context.input(0).type.shape, right_shape(context)),
      transposes_right(transposes(context, "transB")),
      alpha(factor(context, "alpha")),
      beta(factor(context, "beta")) {
  // With a single right operand the matrices of the left one are one matrix.
  matrices = context.input(1).type.shape.elements() / std::max<std::int64_t>(right_elements(), 1);
  if (matrices == 1) {
    shape.m *= shape.batch;
    shape.batch = 1;
  }
}

Window GemmOperands::window() const {
  Window window;
  window.in = window.out = {1, 1, shape.m};
  return window;
}

WeightStrides GemmOperands::right_strides() const {
  return transposes_right ? WeightStrides{.out_channel = shape.k, .in_channel = 1, .tap = 0}
                          : WeightStrides{.out_channel = 1, .in_channel = shape.n, .tap = 0};
}

std::vector<std::int64_t> GemmOperands::matrix_of_image() const {
  std::vector<std::int64_t> matrix;
  for (std::int64_t i = 0; i < shape.batch && matrices > 1; ++i) matrix.push_back(shape.right(i) / right_elements());
  return matrix;
}

std::vector<std::int64_t> GemmOperands::first_rows() const {
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; i < shape.batch && matrices > 1; ++i) first.push_back(shape.left(i) / shape.k);
  return first;
}

Support supports_gemm(const NodeContext& context, DType dtype) {
  if (!context.node.is("MatMul") && !context.node.is("Gemm"))
    return Support::other_operator("not a matrix multiplication");
  if (Support types = have_type(context, dtype); !types) return types;
  if (Support operands = supports_operands(context); !operands) return operands;
  return have_kernels(context, last_dimension(context));
}

RowOperations gemm_operations(const NodeContext& context) {
  std::string why;
  return RowOperations::of(context, last_dimension(context), why).value();
}

}  // namespace saccade::cpu
