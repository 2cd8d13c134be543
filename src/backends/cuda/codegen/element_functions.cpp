#include "cuda/codegen/element_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// Element-wise operators as code: by the expression in the operator's row, or by a rule of their own.
namespace saccade::cuda {
namespace {

std::string_view type_of(const ElementCode& code, int input) {
  return compute_name(code.context().input(input).type.dtype);
}

/// What the placeholders of an expression stand for.
struct Operands {
  std::string x = {};
  std::string y = {};
  std::string a = {};
  std::string b = {};
  std::string n = {};
};

std::string substitute(std::string_view text, const Operands& operands) {
  return fmt::format(fmt::runtime(text), fmt::arg("x", operands.x), fmt::arg("y", operands.y),
                     fmt::arg("a", operands.a), fmt::arg("b", operands.b), fmt::arg("n", operands.n));
}

std::string_view text_for(const Expression& expression, DType dtype) {
  return is_float(dtype) ? expression.of_floats : expression.of_integers;
}

/// The expression in the operator's row, on the inputs from left to right.
std::string expression(ElementCode& code, int /*output*/, const Index& at) {
  const Node& node = code.node();
  const Op& op = *find_op(node.domain, node.op);
  const std::string_view text = text_for(op.expression, code.context().input(0).type.dtype);
  const std::string_view type = type_of(code, 0);
  const bool unary = op.traits.elementwise == Elementwise::kUnary;
  const auto read = [&](int i) { return code.let(type, unary ? code.input(i, at) : code.broadcast(i, at)); };
  // Cast to the compute type: a float literal among doubles would make the template argument ambiguous.
  const auto number = [&](const Parameter& parameter) {
    return parameter.exists() ? fmt::format("{}({})", type, literal(parameter.value(node.attributes))) : std::string();
  };
  const int count = unary ? 1 : own_inputs(code.context());
  Operands operands{.x = read(0), .a = number(op.expression.a), .b = number(op.expression.b)};
  if (unary) return substitute(text, operands);
  for (int i = 1; i < count; ++i) {
    operands.y = read(i);
    operands.x = substitute(text, operands);
    if (i + 1 < count) operands.x = code.let(type, operands.x);
  }
  if (op.expression.finish.empty()) return operands.x;
  operands.x = code.let(type, operands.x);
  operands.n = fmt::format("{}({})", type, count);
  return substitute(op.expression.finish, operands);
}

std::string gelu(ElementCode& code, int output, const Index& at) {
  if (code.node().attributes.text("approximate", "none") == "none") return expression(code, output, at);
  return fmt::format("gelu_by_tanh({})", code.let(type_of(code, 0), code.input(0, at)));
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

// operator list: these need more than an expression: a choice of functions, other types, or operands read in place.
constexpr FunctionRule kOtherFunctions[] = {{"Clip", clip},       {"Mod", mod},   {"Pow", pow},       {"Where", where},
                                            {"Not", logical_not}, {"Cast", cast}, {"CastLike", cast}, {"Gelu", gelu}};

/// The expression of a unary post-op; empty: there is none.
std::string_view text_of(const PostOp& post) {
  if (post.op == "Clip") return "clamp({x}, {a}, {b})";
  const Op* op = find_op(post);
  return op == nullptr || op->traits.elementwise != Elementwise::kUnary ? "" : op->expression.of_floats;
}

bool readable(const Value& value) {
  constexpr DType kLast = DType::kBool;
  return value.type.dtype <= kLast;
}

}  // namespace

ElementRule find_element_rule(const NodeContext& context) {
  const Node& node = context.node;
  const Op* op = find_op(node.domain, node.op);
  if (op == nullptr || !op->traits.is_elementwise() || own_inputs(context) == 0 || !context.has(0)) return {};
  for (int i = 0; i < own_inputs(context); ++i)
    if (context.has(i) && !readable(context.input(i))) return {};
  if (!readable(context.output())) return {};
  const DType dtype = context.input(0).type.dtype;
  const auto other = std::ranges::find(kOtherFunctions, node.op, &FunctionRule::op);
  if (node.domain.empty() && other != std::end(kOtherFunctions)) {
    // Powers of integers round like integers.
    if (node.op == "Pow" && (!is_float(dtype) || !is_float(context.input(1).type.dtype))) return {};
    return other->rule;
  }
  return text_for(op->expression, dtype).empty() ? ElementRule{} : ElementRule(expression);
}

std::string unary_post_op(const PostOp& post, const std::string& x) {
  const std::string_view text = text_of(post);
  if (text.empty()) fail(ErrorCode::kUnsupported, "no kernel supports the post-op {}", post.op);
  return substitute(text, {.x = x, .a = literal(post.alpha), .b = literal(post.beta)});
}

Support supports_post_ops(const NodeContext& context) {
  for (const PostOp& post : context.node.post_ops) {
    if (post.operand < 0) {
      if (text_of(post).empty()) return Support::no(fmt::format("no kernel supports the post-op {}", post.op));
    } else if (context.input(post.operand).layout != context.output().layout) {
      return Support::no(fmt::format("the operand of its post-op {} has another layout", post.op));
    }
  }
  return {};
}

}  // namespace saccade::cuda
