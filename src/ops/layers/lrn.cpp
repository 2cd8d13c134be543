#include <algorithm>
#include <cmath>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// LRN: every element divided by a power of the sum of squares of its neighbours along the channels.
namespace saccade {
namespace {

void infer_lrn(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  if (context.shape(0).rank() < 2)
    fail(ErrorCode::kInvalidFile, "an input of shape {} has no channels", context.shape(0).to_string());
  if (context.attributes().integer("size", 0) < 1)
    fail(ErrorCode::kInvalidFile, "LRN needs the attribute 'size', at least 1");
  context.output(0, context.dtype(0), context.shape(0));
}

void reference_lrn(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  if (shape.elements() == 0) return;
  const Attributes& attributes = context.attributes();
  const std::int64_t channels = shape[1];
  const std::int64_t plane = shape.elements() / shape[0] / channels;
  const std::int64_t size = attributes.integer("size", 1);
  const double alpha = attributes.real("alpha", 1e-4F) / static_cast<double>(size);
  const double beta = attributes.real("beta", 0.75F);
  const double bias = attributes.real("bias", 1);
  // An even size extends one channel further up than down.
  const std::int64_t below = std::min((size - 1) / 2, channels);
  const std::int64_t above = std::min(size - 1 - (size - 1) / 2, channels);
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const T* from = context.in<T>(0).data();
    T* to = context.out<T>().data();
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const std::int64_t channel = i / plane % channels;
      double squares = 0;
      for (std::int64_t c = std::max<std::int64_t>(channel - below, 0); c <= std::min(channel + above, channels - 1);
           ++c) {
        const auto value = static_cast<double>(from[i + (c - channel) * plane]);
        squares += value * value;
      }
      const double result = static_cast<double>(from[i]) / std::pow(bias + alpha * squares, beta);
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(result));
    }
  });
}

constexpr Op kLrnOps[] = {{"", "LRN", infer_lrn, reference_lrn, {.cost = {.operations = 3}}}};

}  // namespace

std::span<const Op> lrn_ops() { return kLrnOps; }

}  // namespace saccade
