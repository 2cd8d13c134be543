#include <functional>

#include "ops/elementwise/elementwise.hpp"

// Logic and shifts on the bits of integers.
namespace saccade {
namespace {

/// Right shifts of signed values are arithmetic. A count outside T's width, or a negative one, shifts out every bit and
/// leaves copies of the sign.
struct ShiftBits {
  bool left;

  explicit ShiftBits(const Attributes& attributes) : left(attributes.text("direction") == "LEFT") {}

  template <typename T>
  T operator()(T value, T by) const {
    if (by < T{0} || static_cast<std::uint64_t>(by) >= 8 * sizeof(T))
      return static_cast<T>(!left && value < T{0} ? -1 : 0);
    return static_cast<T>(left ? static_cast<std::uint64_t>(value) << by : value >> by);
  }
};

void infer_bits(InferContext& context) {
  if (!is_integer(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "it works on the bits of integers, not of {}", to_string(context.dtype(0)));
  context.output(0, context.dtype(0), context.shape(0));
}

void infer_two_bitwise(InferContext& context) {
  infer_bits(context);
  if (context.dtype(1) != context.dtype(0))
    fail(ErrorCode::kInvalidFile, "the inputs mix {} and {}", to_string(context.dtype(0)), to_string(context.dtype(1)));
  context.output(0, context.dtype(0), broadcast_shape(context.shape(0), context.shape(1)));
}

void infer_shift(InferContext& context) {
  const std::string direction = context.attributes().text("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    fail(ErrorCode::kInvalidFile, "BitShift's direction is '{}', not LEFT or RIGHT", direction);
  infer_two_bitwise(context);
}

template <typename Function>
void run_two(const KernelContext& context) {
  const auto function = make_function<Function>(context.attributes());
  with_integer(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_pairs<T, T, T>(context.input(0), context.input(1), context.output(), function);
  });
}

void run_not(const KernelContext& context) {
  with_integer(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, T>(context.input(0), context.output(), std::bit_not<>{});
  });
}

constexpr Op kBitwiseOps[] = {
    {"", "BitwiseAnd", infer_two_bitwise, run_two<std::bit_and<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} & {y}")},
    {"", "BitwiseOr", infer_two_bitwise, run_two<std::bit_or<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} | {y}")},
    {"", "BitwiseXor", infer_two_bitwise, run_two<std::bit_xor<>>, OpTraits::broadcast({}, 0),
     Expression::integers("{x} ^ {y}")},
    {"", "BitwiseNot", infer_bits, run_not, OpTraits::unary({}, 0), Expression::integers("~{x}")},
    {"", "BitShift", infer_shift, run_two<ShiftBits>, OpTraits::broadcast({}, 0),
     Expression::integers("shifted({x}, {y}, {a} != 0)", Parameter::chosen("direction", "LEFT"))},
};

}  // namespace

std::span<const Op> bitwise_ops() { return kBitwiseOps; }

}  // namespace saccade
