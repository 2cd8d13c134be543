#include <functional>

#include "ops/elementwise/elementwise.hpp"

// Comparisons of two tensors, and logic on bools. Bools are read as bytes: a model file may contain others than 0 and
// 1.
namespace saccade {
namespace {

void infer_comparison(InferContext& context) {
  if (context.dtype(0) != context.dtype(1))
    fail(ErrorCode::kInvalidFile, "{} can't be compared with {}", to_string(context.dtype(0)),
         to_string(context.dtype(1)));
  context.output(0, DType::kBool, broadcast_shape(context.shape(0), context.shape(1)));
}

void infer_order(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "ordering {} is not supported", to_string(context.dtype(0)));
  infer_comparison(context);
}

void infer_equal(InferContext& context) {
  const DType dtype = context.dtype(0);
  if (!is_number(dtype) && dtype != DType::kBool && dtype != DType::kString)
    fail(ErrorCode::kUnsupported, "comparing {} is not supported", to_string(dtype));
  infer_comparison(context);
}

void infer_logic(InferContext& context) {
  if (context.dtype(0) != DType::kBool || context.dtype(1) != DType::kBool)
    fail(ErrorCode::kInvalidFile, "logic takes bool tensors, not {} and {}", to_string(context.dtype(0)),
         to_string(context.dtype(1)));
  infer_comparison(context);
}

template <typename T, typename Function>
void run_pairs(const KernelContext& context, const Function& function) {
  map_pairs<T, T, bool>(context.input(0), context.input(1), context.output(), function);
}

template <typename Function>
void run_order(const KernelContext& context) {
  with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { run_pairs<T>(context, Function{}); });
}

template <typename Function>
void run_logic(const KernelContext& context) {
  run_pairs<std::uint8_t>(context, [](std::uint8_t a, std::uint8_t b) { return Function{}(a != 0, b != 0); });
}

void run_equal(const KernelContext& context) {
  const DType dtype = context.input(0).dtype;
  if (dtype == DType::kBool) return run_logic<std::equal_to<>>(context);
  if (dtype == DType::kString) return run_pairs<std::string>(context, std::equal_to<>{});
  run_order<std::equal_to<>>(context);
}

constexpr Op kCompareOps[] = {
    {"", "Equal", infer_equal, run_equal, OpTraits::broadcast({}, 0), Expression::numbers("{x} == {y}")},
    {"", "Greater", infer_order, run_order<std::greater<>>, OpTraits::broadcast({}, 0),
     Expression::numbers("{x} > {y}")},
    {"", "GreaterOrEqual", infer_order, run_order<std::greater_equal<>>, OpTraits::broadcast({}, 0),
     Expression::numbers("{x} >= {y}")},
    {"", "Less", infer_order, run_order<std::less<>>, OpTraits::broadcast({}, 0), Expression::numbers("{x} < {y}")},
    {"", "LessOrEqual", infer_order, run_order<std::less_equal<>>, OpTraits::broadcast({}, 0),
     Expression::numbers("{x} <= {y}")},
    {"", "And", infer_logic, run_logic<std::logical_and<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} && {y}")},
    {"", "Or", infer_logic, run_logic<std::logical_or<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} || {y}")},
    {"", "Xor", infer_logic, run_logic<std::not_equal_to<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} != {y}")},
};

}  // namespace

std::span<const Op> compare_ops() { return kCompareOps; }

}  // namespace saccade
