#include "ops/dispatch.hpp"
#include "ops/op.hpp"

// Shrink: soft thresholding. y = x + bias below -lambd, x - bias above lambd, else 0.
namespace saccade {
namespace {

void infer_shrink(InferContext& context) {
  require_type<float, double, Float16>(context.dtype(0), "an input");
  context.output(0, context.dtype(0), context.shape(0));
}

void reference_shrink(const KernelContext& context) {
  const float bias = context.attributes().real("bias", 0);
  const float threshold = context.attributes().real("lambd", 0.5F);
  with_type<float, double, Float16>(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto from = context.in<T>(0);
    const auto to = context.out<T>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto x = static_cast<Accumulator<T>>(from[i]);
      to[i] = static_cast<T>(x < -threshold ? x + bias : x > threshold ? x - bias : 0);
    }
  });
}

constexpr Op kOps[] = {{"", "Shrink", infer_shrink, reference_shrink}};

}  // namespace

std::span<const Op> shrink_ops() { return kOps; }

}  // namespace saccade
