#include "cuda/codegen/element_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/values.hpp"

// Expressions of element-wise operators; kernels/elements.cuh has the functions.
namespace saccade::cuda {
namespace {

/// A unary function: {x} is the element, {a} and {b} the attributes ALPHA and BETA or their defaults.
struct Unary {
  std::string_view op;
  std::string_view expression;
  std::string_view alpha = "alpha";
  float alpha_default = 0;
  std::string_view beta = "beta";
  float beta_default = 0;
};

constexpr Unary kFloats[] = {
    {"Sqrt", "sqrt({x})"},
    {"Exp", "exp({x})"},
    {"Log", "log({x})"},
    {"Reciprocal", "1 / {x}"},
    {"Floor", "floor({x})"},
    {"Ceil", "ceil({x})"},
    {"Round", "rint({x})"},
    {"Erf", "erf({x})"},
    {"Sin", "sin({x}) /* local memory: range reduction of large angles */"},
    {"Cos", "cos({x}) /* local memory: range reduction of large angles */"},
    {"Tan", "tan({x}) /* local memory: range reduction of large angles */"},
    {"Asin", "asin({x})"},
    {"Acos", "acos({x})"},
    {"Atan", "atan({x})"},
    {"Sinh", "sinh({x})"},
    {"Cosh", "cosh({x})"},
    {"Tanh", "tanh({x})"},
    {"Asinh", "asinh({x})"},
    {"Acosh", "acosh({x})"},
    {"Atanh", "atanh({x})"},
    {"Sigmoid", "sigmoid({x})"},
    {"Silu", "silu({x})"},
    {"Softsign", "{x} / (1 + fabs({x}))"},
    {"Mish", "{x} * tanh(softplus({x}))"},
    {"Softplus", "softplus({x})"},
    {"HardSwish", "hard_swish({x})"},
    {"LeakyRelu", "leaky_relu({x}, {a})", "alpha", 0.01F},
    {"ThresholdedRelu", "thresholded_relu({x}, {a})", "alpha", 1},
    {"Swish", "swish({x}, {a})", "alpha", 1},
    {"Elu", "elu({x}, {a})", "alpha", 1},
    {"Celu", "celu({x}, {a})", "alpha", 1},
    {"Selu", "selu({x}, {a}, {b})", "alpha", 1.67326319217681884765625F, "gamma", 1.05070102214813232421875F},
    {"HardSigmoid", "hard_sigmoid({x}, {a}, {b})", "alpha", 0.2F, "beta", 0.5F},
    {"Shrink", "shrink({x}, {a}, {b})", "bias", 0, "lambd", 0.5F},
    {"Relu", "relu({x})"},
    {"Sign", "sign({x})"},
    {"Neg", "-{x}"},
    {"Abs", "fabs({x})"},
};

constexpr Unary kIntegers[] = {
    {"Relu", "relu({x})"},
    {"Sign", "sign({x})"},
    {"Neg", "0 - uint64({x})"},
    {"Abs", "({x} < 0 ? 0 - uint64({x}) : uint64({x}))"},
};

const Unary* find(std::span<const Unary> table, std::string_view op) {
  const auto found = std::ranges::find(table, op, &Unary::op);
  return found == table.end() ? nullptr : &*found;
}

std::string apply(const Unary& unary, const std::string& x, float alpha, float beta) {
  return fmt::format(fmt::runtime(unary.expression), fmt::arg("x", x), fmt::arg("a", literal(alpha)),
                     fmt::arg("b", literal(beta)));
}

bool is_element_domain(const Node& node) {
  return node.domain.empty() || (node.domain == "saccade" && node.op == "Silu") ||
         (node.domain == "com.microsoft" && node.op == "Gelu");
}

std::string_view type_of(const ElementCode& code, int input) {
  return compute_name(code.context().input(input).type.dtype);
}

std::string unary(ElementCode& code, int /*output*/, const Index& at) {
  const Node& node = code.node();
  const DType dtype = code.context().input(0).type.dtype;
  const std::string x = code.let(type_of(code, 0), code.input(0, at));
  if (node.op == "Gelu")
    return node.attributes.text("approximate", "none") == "tanh" ? "gelu_by_tanh(" + x + ")" : "gelu(" + x + ")";
  const Unary& unary = *find(is_float(dtype) ? std::span<const Unary>(kFloats) : kIntegers, node.op);
  // Cast to the compute type: a float literal among doubles would make the template argument ambiguous.
  const std::string type(type_of(code, 0));
  const auto number = [&](std::string_view name, float otherwise) {
    return fmt::format("{}({})", type, literal(node.attributes.real(name, otherwise)));
  };
  return fmt::format(fmt::runtime(unary.expression), fmt::arg("x", x),
                     fmt::arg("a", number(unary.alpha, unary.alpha_default)),
                     fmt::arg("b", number(unary.beta, unary.beta_default)));
}

std::string clip(ElementCode& code, int /*output*/, const Index& at) {
  const std::string type(type_of(code, 0));
  const std::string x = code.let(type, code.input(0, at));
  // A bound is a tensor of one element, of any rank.
  const auto bound = [&](int i) {
    return fmt::format("{}({})", type,
                       code.input(i, Index(static_cast<std::size_t>(code.context().input(i).type.shape.rank()), "0")));
  };
  std::string clipped = x;
  if (code.context().has(1)) clipped = code.let(type, fmt::format("{} < {} ? {} : {}", x, bound(1), bound(1), x));
  if (code.context().has(2)) clipped = fmt::format("({} > {} ? {} : {})", clipped, bound(2), bound(2), clipped);
  return clipped;
}

/// Expression of {a} and {b} for floats and for integers; empty: not supported.
struct Binary {
  std::string_view op;
  std::string_view floats;
  std::string_view integers;
};

constexpr Binary kBinaries[] = {
    {"Add", "sum({a}, {b})", "uint64({a}) + uint64({b})"},
    {"Sub", "difference({a}, {b})", "uint64({a}) - uint64({b})"},
    {"Mul", "{a} * {b}", "uint64({a}) * uint64({b})"},
    {"Div", "{a} / {b}", "integer_quotient({a}, {b})"},
    {"PRelu", "({a} < 0 ? {a} * {b} : {a})", "({a} < 0 ? uint64({a}) * uint64({b}) : uint64({a}))"},
    {"Max", "max_nan({a}, {b})", "max_nan({a}, {b})"},
    {"Min", "min_nan({a}, {b})", "min_nan({a}, {b})"},
    {"Sum", "sum({a}, {b})", ""},
    {"Equal", "{a} == {b}", "{a} == {b}"},
    {"Greater", "{a} > {b}", "{a} > {b}"},
    {"GreaterOrEqual", "{a} >= {b}", "{a} >= {b}"},
    {"Less", "{a} < {b}", "{a} < {b}"},
    {"LessOrEqual", "{a} <= {b}", "{a} <= {b}"},
    {"And", "", "{a} && {b}"},
    {"Or", "", "{a} || {b}"},
    {"Xor", "", "{a} != {b}"},
    {"BitwiseAnd", "", "{a} & {b}"},
    {"BitwiseOr", "", "{a} | {b}"},
    {"BitwiseXor", "", "{a} ^ {b}"},
};

std::string_view expression_of(const NodeContext& context, const Binary& binary) {
  return is_float(context.input(0).type.dtype) ? binary.floats : binary.integers;
}

/// Variadic operators fold their inputs from the left.
std::string binary(ElementCode& code, int /*output*/, const Index& at) {
  const Binary& found = *std::ranges::find(kBinaries, code.node().op, &Binary::op);
  const std::string_view type = type_of(code, 0);
  std::string value = code.let(type, code.broadcast(0, at));
  for (int i = 1; i < own_inputs(code.context()); ++i) {
    const std::string next = code.let(type, code.broadcast(i, at));
    value = fmt::format(fmt::runtime(expression_of(code.context(), found)), fmt::arg("a", value), fmt::arg("b", next));
    if (i + 1 < own_inputs(code.context())) value = code.let(type, value);
  }
  return value;
}

std::string mod(ElementCode& code, int /*output*/, const Index& at) {
  const DType dtype = code.context().input(0).type.dtype;
  const std::string_view type = type_of(code, 0);
  const std::string a = code.let(type, code.broadcast(0, at));
  const std::string b = code.let(type, code.broadcast(1, at));
  const bool truncated = code.node().attributes.integer("fmod", 0) != 0;
  if (is_float(dtype)) return fmt::format("{}({}, {})", truncated ? "fmod" : "float_remainder", a, b);
  return truncated ? fmt::format("({1} == 0 || {1} == {2}(-1) ? {2}(0) : {2}({0} % {1}))", a, b, type)
                   : fmt::format("integer_remainder({}, {})", a, b);
}

std::string pow(ElementCode& code, int /*output*/, const Index& at) {
  const std::string_view type = type_of(code, 0);
  return fmt::format("power({}, {}({}))", code.let(type, code.broadcast(0, at)), type, code.broadcast(1, at));
}

std::string where(ElementCode& code, int /*output*/, const Index& at) {
  return fmt::format("({} ? {} : {})", code.broadcast(0, at), code.broadcast(1, at), code.broadcast(2, at));
}

std::string logical_not(ElementCode& code, int /*output*/, const Index& at) { return "!" + code.input(0, at); }

std::string is_nan(ElementCode& code, int /*output*/, const Index& at) {
  const std::string x = code.let(type_of(code, 0), code.input(0, at));
  return fmt::format("{0} != {0}", x);
}

std::string cast(ElementCode& code, int /*output*/, const Index& at) {
  const DType from = code.context().input(0).type.dtype;
  const DType to = code.context().output().type.dtype;
  const std::string x = code.let(compute_name(from), code.input(0, at));
  if (to == DType::kBool) return x + " != 0";
  if (!is_float(from) || !is_integer(to)) return fmt::format("{}({})", compute_name(to), x);
  const std::size_t bits = bits_of(to);
  const bool is_signed = to == DType::kInt8 || to == DType::kInt16 || to == DType::kInt32 || to == DType::kInt64;
  const std::string_view type = storage_name(to);
  const std::size_t digits = is_signed ? bits - 1 : bits;
  const std::string most = digits == 64 ? "~uint64(0)" : fmt::format("{}((uint64(1) << {}) - 1)", type, digits);
  // 2^digits is above the largest integer and exact in double.
  return fmt::format("saturated<{}>({}, {}, 0x1p{}, {}, {})", type, x,
                     is_signed ? fmt::format("-0x1p{}", digits) : "0.0", digits,
                     is_signed ? fmt::format("{}(-({}) - 1)", type, most) : "0", most);
}

struct FunctionRule {
  std::string_view op;
  std::string (*rule)(ElementCode& code, int output, const Index& at);
};

constexpr FunctionRule kOtherFunctions[] = {{"Clip", clip},   {"Mod", mod},         {"Pow", pow},
                                            {"Where", where}, {"Not", logical_not}, {"IsNaN", is_nan},
                                            {"Cast", cast},   {"CastLike", cast},   {"Gelu", unary}};

bool readable(const Value& value) {
  constexpr DType kLast = DType::kBool;
  return value.type.dtype <= kLast;
}

}  // namespace

ElementRule find_element_rule(const NodeContext& context) {
  const Node& node = context.node;
  if (!is_element_domain(node) || own_inputs(context) == 0 || !context.has(0)) return {};
  for (int i = 0; i < own_inputs(context); ++i)
    if (context.has(i) && !readable(context.input(i))) return {};
  if (!readable(context.output())) return {};
  const DType dtype = context.input(0).type.dtype;
  if (const auto found = std::ranges::find(kOtherFunctions, node.op, &FunctionRule::op);
      found != std::end(kOtherFunctions)) {
    // Powers of integers round like integers.
    if (node.op == "Pow" && (!is_float(dtype) || !is_float(context.input(1).type.dtype))) return {};
    return found->rule;
  }
  if (find(is_float(dtype) ? std::span<const Unary>(kFloats) : kIntegers, node.op) != nullptr)
    return dtype == DType::kBool ? ElementRule{} : unary;
  const auto two = std::ranges::find(kBinaries, node.op, &Binary::op);
  return two != std::end(kBinaries) && !expression_of(context, *two).empty() ? ElementRule(binary) : ElementRule{};
}

std::string unary_post_op(const PostOp& post, const std::string& x) {
  if (post.op == "Clip") return fmt::format("clamp({}, {}, {})", x, literal(post.alpha), literal(post.beta));
  if (post.op == "Gelu") return fmt::format("gelu({})", x);
  const Unary* unary = find(kFloats, post.op);
  if (unary == nullptr) fail(ErrorCode::kUnsupported, "no kernel supports the post-op {}", post.op);
  return apply(*unary, x, post.alpha, post.beta);
}

Support supports_post_ops(const NodeContext& context) {
  for (const PostOp& post : context.node.post_ops) {
    if (post.operand < 0) {
      if (post.op != "Clip" && post.op != "Gelu" && find(kFloats, post.op) == nullptr)
        return Support::no(fmt::format("no kernel supports the post-op {}", post.op));
    } else if (context.input(post.operand).layout != context.output().layout) {
      return Support::no(fmt::format("the operand of its post-op {} has another layout", post.op));
    }
  }
  return {};
}

}  // namespace saccade::cuda
