#include "ops/core/dispatch.hpp"
#include "ops/layers/convolve.hpp"

// Conv and ConvTranspose: inputs X (N, C, spatial), W, optional B (one per filter). Accumulated in float32 (float64 for
// float64).
namespace saccade {
namespace {

/// The number of groups, which must divide both counts.
std::int64_t groups_of(const Attributes& attributes, std::int64_t channels, std::int64_t filters) {
  const std::int64_t groups = attributes.integer("group", 1);
  if (groups < 1 || channels < 1 || filters < 1 || channels % groups != 0 || filters % groups != 0)
    fail(ErrorCode::kInvalidFile, "{} channels and {} filters can't be split into {} groups", channels, filters,
         groups);
  return groups;
}

void check_ranks(const Shape& input, const Shape& weights) {
  if (input.rank() < 3 || weights.rank() != input.rank())
    fail(ErrorCode::kInvalidFile, "weights of shape {} don't fit an input of shape {}", weights.to_string(),
         input.to_string());
}

}  // namespace

ConvShape conv_shape(const Attributes& attributes, const Shape& input, const Shape& weights) {
  check_ranks(input, weights);
  ConvShape shape{.batch = input[0], .channels = input[1], .filters = weights[0]};
  shape.groups = groups_of(attributes, shape.channels, shape.filters);
  if (weights[1] != shape.channels / shape.groups)
    fail(ErrorCode::kInvalidFile, "weights of shape {} don't fit {} channels in {} groups", weights.to_string(),
         shape.channels, shape.groups);
  shape.window = slide(attributes, input, kernel_of(attributes, weights));
  return shape;
}

namespace {

ConvShape transposed_shape(const Attributes& attributes, const Shape& input, const Shape& weights) {
  check_ranks(input, weights);
  ConvShape shape{.batch = input[0], .channels = input[1]};
  shape.groups = attributes.integer("group", 1);
  if (weights[0] != shape.channels || shape.groups < 1 || shape.groups > shape.channels)
    fail(ErrorCode::kInvalidFile, "weights of shape {} don't fit {} channels in {} groups", weights.to_string(),
         shape.channels, shape.groups);
  shape.filters = weights[1] * shape.groups;
  groups_of(attributes, shape.channels, shape.filters);
  shape.window = slide_transposed(attributes, input, kernel_of(attributes, weights));
  return shape;
}

template <auto kShapeOf>
void infer_conv(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const ConvShape shape = kShapeOf(context.attributes(), context.shape(0), context.shape(1));
  for (int i = 1; i < 3; ++i)
    if (context.has(i) && context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {} is {}, not {} like the first", i, to_string(context.dtype(i)),
           to_string(context.dtype(0)));
  if (context.has(2) && context.shape(2) != Shape{shape.filters})
    fail(ErrorCode::kInvalidFile, "a bias of shape {} does not fit {} filters", context.shape(2).to_string(),
         shape.filters);
  context.output(0, context.dtype(0), shape.window.output_shape(shape.batch, shape.filters));
}

template <typename T>
void run(const KernelContext& context, const ConvShape& shape, bool transposed, const Accumulator<T>* weights) {
  using Sum = Accumulator<T>;
  const auto input = context.in<T>(0);
  const auto output = context.out<T>();
  const T* bias = context.has(2) ? context.in<T>(2).data() : nullptr;
  const auto source = [&](std::int64_t i) { return static_cast<Sum>(input[static_cast<std::size_t>(i)]); };
  if (output.empty()) return;
  const std::int64_t outputs = shape.window.outputs();
  const auto store = [&](std::int64_t image, std::int64_t filter, std::int64_t first, std::span<const Sum> sums) {
    const Sum base = bias == nullptr ? Sum{} : static_cast<Sum>(bias[filter]);
    T* to = output.data() + (image * shape.filters + filter) * outputs + first;
    for (const Sum sum : sums) *to++ = static_cast<T>(sum + base);
  };
  convolve<Sum>(shape, transposed, source, weights, store);
}

void reference_conv(const KernelContext& context) {
  const ConvShape shape = conv_shape(context.attributes(), context.input(0).shape, context.input(1).shape);
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto weights = context.in<T>(1);
    if constexpr (std::is_same_v<T, Accumulator<T>>) {
      run<T>(context, shape, false, weights.data());
    } else {
      const std::vector<Accumulator<T>> widened(weights.begin(), weights.end());
      run<T>(context, shape, false, widened.data());
    }
  });
}

void reference_conv_transpose(const KernelContext& context) {
  const ConvShape shape = transposed_shape(context.attributes(), context.input(0).shape, context.input(1).shape);
  const std::int64_t taps = shape.window.taps();
  const std::int64_t channels = shape.channels / shape.groups;
  const std::int64_t filters = shape.filters / shape.groups;
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto weights = context.in<T>(1);
    // The file's order is channel, filter within the group, tap; convolve() expects one row per filter.
    std::vector<Accumulator<T>> rows(weights.size());
    auto next = rows.begin();
    for (std::int64_t filter = 0; filter < shape.filters; ++filter) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t from = ((filter / filters * channels + channel) * filters + filter % filters) * taps;
        next = std::copy_n(weights.begin() + from, taps, next);
      }
    }
    run<T>(context, shape, true, rows.data());
  });
}

constexpr OpTraits kConvTraits{.arity = {2, 3}, .float_inputs = kAnyNumber, .cost = {.per = CostPer::kProduct}};

constexpr Op kConvOps[] = {
    {"", "Conv", infer_conv<conv_shape>, reference_conv, kConvTraits},
    {"", "ConvTranspose", infer_conv<transposed_shape>, reference_conv_transpose, kConvTraits},
};

}  // namespace

std::span<const Op> conv_ops() { return kConvOps; }

}  // namespace saccade
