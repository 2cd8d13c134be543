#include "ops/core/arithmetic.hpp"
#include "ops/elementwise/elementwise.hpp"

// Shrink: soft thresholding. y = x + bias below -lambd, x - bias above lambd, else 0. Integers are computed as real
// numbers and truncated.
namespace saccade {
namespace {

struct Shrink {
  float bias;
  float threshold;
  explicit Shrink(const Attributes& attributes)
      : bias(attributes.real("bias", 0)), threshold(attributes.real("lambd", 0.5F)) {}
  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return saturate<T>((*this)(static_cast<double>(x)));
    else
      return x < -static_cast<T>(threshold)  ? x + static_cast<T>(bias)
             : x > static_cast<T>(threshold) ? x - static_cast<T>(bias)
             : x != x                        ? x
                                             : T{0};
  }
};

void infer_shrink(InferContext& context) {
  if (!is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "an input of type {} is not supported", to_string(context.dtype(0)));
  context.output(0, context.dtype(0), context.shape(0));
}

void shrink(const KernelContext& context) {
  const Shrink function(context.attributes());
  with_number(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    map_elements<T, T>(context.input(0), context.output(), function);
  });
}

constexpr Op kShrinkOps[] = {{"", "Shrink", infer_shrink, shrink, OpTraits::unary(),
                              Expression::floats("shrink({x}, {a}, {b})", {"bias", 0}, {"lambd", 0.5F})}};

}  // namespace

std::span<const Op> shrink_ops() { return kShrinkOps; }

}  // namespace saccade
