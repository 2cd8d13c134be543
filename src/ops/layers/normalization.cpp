#include <cmath>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"

// BatchNormalization (inference), InstanceNormalization, GroupNormalization and LayerNormalization. Statistics in
// float64.
namespace saccade {
namespace {

/// The elements of a floating-point input.
std::vector<double> reals(const KernelContext& context, int i) {
  std::vector<double> values;
  with_type<float, double, Float16, BFloat16>(context.input(i).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto given = context.in<T>(i);
    values.assign(given.begin(), given.end());
  });
  return values;
}

void check_channels(const Shape& input) {
  if (input.rank() < 2)
    fail(ErrorCode::kInvalidFile, "an input of shape {} has no channels to normalise", input.to_string());
}

/// Input I must hold one floating-point number per channel.
void check_per_channel(const InferContext& context, int i, std::int64_t channels) {
  require_type<float, double, Float16, BFloat16>(context.dtype(i), "a normalisation's parameter");
  if (context.shape(i) != Shape{channels})
    fail(ErrorCode::kInvalidFile, "input {} of shape {} does not hold one number for each of {} channels", i,
         context.shape(i).to_string(), channels);
}

void infer_batch(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  check_channels(context.shape(0));
  for (int i = 1; i < 5; ++i) check_per_channel(context, i, context.shape(0)[1]);
  if (context.attributes().integer("training_mode", 0) != 0 || context.output_count() > 1)
    fail(ErrorCode::kUnsupported,
         "BatchNormalization in training mode is not supported; export the model for inference");
  context.output(0, context.dtype(0), context.shape(0));
}

/// to[i] = from[i] * factor + offset over a run of elements.
template <typename T>
void scale_run(const T* from, T* to, std::int64_t count, double factor, double offset) {
  using Number = Accumulator<T>;
  const auto f = static_cast<Number>(factor);
  const auto o = static_cast<Number>(offset);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(static_cast<Number>(from[i]) * f + o);
}

std::int64_t elements_from(const Shape& shape, int axis) {
  std::int64_t product = 1;
  for (int i = axis; i < shape.rank(); ++i) product = checked_multiply(product, shape[i]);
  return product;
}

void reference_batch(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  if (shape.elements() == 0) return;
  const auto scale = reals(context, 1);
  const auto bias = reals(context, 2);
  const auto mean = reals(context, 3);
  const auto variance = reals(context, 4);
  const double epsilon = context.attributes().real("epsilon", 1e-5F);
  const std::int64_t plane = elements_from(shape, 2);
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const T* from = context.in<T>(0).data();
    T* to = context.out<T>().data();
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::size_t channel = 0; channel < scale.size(); ++channel, from += plane, to += plane) {
        const double factor = scale[channel] / std::sqrt(variance[channel] + epsilon);
        scale_run(from, to, plane, factor, bias[channel] - mean[channel] * factor);
      }
    }
  });
}

struct Moments {
  double mean = 0;
  double inverse_deviation = 0;
};

template <typename T>
Moments moments_of(const T* values, std::int64_t count, double epsilon) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double distance = static_cast<double>(values[i]) - mean;
    squares += distance * distance;
  }
  return {mean, 1 / std::sqrt(squares / static_cast<double>(count) + epsilon)};
}

void infer_instance(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  check_channels(context.shape(0));
  for (int i = 1; i < 3; ++i) check_per_channel(context, i, context.shape(0)[1]);
  context.output(0, context.dtype(0), context.shape(0));
}

void infer_group(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  check_channels(context.shape(0));
  const std::int64_t channels = context.shape(0)[1];
  const std::int64_t groups = context.attributes().integer("num_groups", 0);
  if (groups < 1 || channels % groups != 0)
    fail(ErrorCode::kInvalidFile, "{} channels can't be normalised in {} groups", channels, groups);
  // One number per channel; one per group in opset 18's form.
  for (int i = 1; i < 3; ++i) check_per_channel(context, i, context.shape(i) == Shape{groups} ? groups : channels);
  context.output(0, context.dtype(0), context.shape(0));
}

/// Normalizes every group of channels of every image by its own moments.
void normalize_groups(const KernelContext& context, std::int64_t groups) {
  const Shape& shape = context.input(0).shape;
  if (shape.elements() == 0) return;
  const auto scale = reals(context, 1);
  const auto bias = reals(context, 2);
  const double epsilon = context.attributes().real("epsilon", 1e-5F);
  const std::int64_t plane = elements_from(shape, 2);
  const std::int64_t members = shape[1] / groups;
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const T* from = context.in<T>(0).data();
    T* to = context.out<T>().data();
    for (std::int64_t i = 0; i < shape[0] * groups; ++i) {
      const std::int64_t group = i % groups;
      const Moments moments = moments_of(from, members * plane, epsilon);
      for (std::int64_t member = 0; member < members; ++member, from += plane, to += plane) {
        const std::int64_t channel = group * members + member;
        const auto at = [&](const std::vector<double>& values) {
          return values[static_cast<std::size_t>(std::ssize(values) == shape[1] ? channel : group)];
        };
        const double factor = at(scale) * moments.inverse_deviation;
        const double offset = at(bias);
        // Subtract the mean first: it may be large compared with the deviation.
        for (std::int64_t k = 0; k < plane; ++k) {
          const double y = (static_cast<double>(from[k]) - moments.mean) * factor + offset;
          to[k] = static_cast<T>(static_cast<Accumulator<T>>(y));
        }
      }
    }
  });
}

void reference_instance(const KernelContext& context) { normalize_groups(context, context.input(0).shape[1]); }

void reference_group(const KernelContext& context) {
  normalize_groups(context, context.attributes().integer("num_groups", 0));
}

void infer_layer(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  const Shape& input = context.shape(0);
  const int axis = InferContext::axis(context.attributes().integer("axis", -1), input.rank());
  const DType stash = dtype_of_onnx(context.attributes().integer("stash_type", 1));
  require_type<float, double, Float16, BFloat16>(stash, "a statistic (stash_type)");
  context.input(1);
  for (int i = 1; i < 3; ++i) {
    if (!context.has(i)) continue;
    require_type<float, double, Float16, BFloat16>(context.dtype(i), "a normalisation's parameter");
    if (context.shape(i).elements() != elements_from(input, axis))
      fail(ErrorCode::kUnsupported, "input {} of shape {} does not hold one number for each of the {} normalised", i,
           context.shape(i).to_string(), elements_from(input, axis));
  }
  context.output(0, context.dtype(0), input);
  Shape moments = input;
  for (int i = axis; i < input.rank(); ++i) moments[i] = 1;
  for (int i = 1; i < context.output_count(); ++i) context.output(i, stash, moments);
}

void put(const TensorView& view, std::size_t at, double value) {
  with_float(view.dtype, [&]<typename T>(std::type_identity<T>) {
    view.as<T>()[at] = static_cast<T>(static_cast<Accumulator<T>>(value));
  });
}

template <typename T>
void layer(const KernelContext& context, std::int64_t count) {
  const auto scale = reals(context, 1);
  const auto bias = context.has(2) ? reals(context, 2) : std::vector<double>(scale.size());
  const double epsilon = context.attributes().real("epsilon", 1e-5F);
  const auto input = context.in<T>(0);
  const T* from = input.data();
  T* to = context.out<T>().data();
  for (std::int64_t row = 0; row * count < std::ssize(input); ++row, from += count, to += count) {
    const Moments moments = moments_of(from, count, epsilon);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double normal = (static_cast<double>(from[i]) - moments.mean) * moments.inverse_deviation;
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(normal * scale[k] + bias[k]));
    }
    const auto at = static_cast<std::size_t>(row);
    if (context.wants(1)) put(context.output(1), at, moments.mean);
    if (context.wants(2)) put(context.output(2), at, moments.inverse_deviation);
  }
}

void reference_layer(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const int axis = InferContext::axis(context.attributes().integer("axis", -1), shape.rank());
  with_float(context.input(0).dtype,
             [&]<typename T>(std::type_identity<T>) { layer<T>(context, elements_from(shape, axis)); });
}

// Operations: one multiply-add.
constexpr OpTraits kBatchNormalizationTraits{.arity = {5, 5}, .float_inputs = kAnyNumber, .cost = {.operations = 2}};
// Operations: sum, sum of squares, multiply-add.
constexpr OpTraits kInstanceNormalizationTraits{.arity = {3, 3}, .float_inputs = kAnyNumber, .cost = {.operations = 5}};
constexpr OpTraits kLayerNormalizationTraits{.arity = {2, 3}, .float_inputs = kAnyNumber, .cost = {.operations = 5}};

constexpr Op kNormalizationOps[] = {
    {"", "BatchNormalization", infer_batch, reference_batch, kBatchNormalizationTraits},
    {"", "InstanceNormalization", infer_instance, reference_instance, kInstanceNormalizationTraits},
    {"", "GroupNormalization", infer_group, reference_group, kInstanceNormalizationTraits},
    {"", "LayerNormalization", infer_layer, reference_layer, kLayerNormalizationTraits},
};

}  // namespace

std::span<const Op> normalization_ops() { return kNormalizationOps; }

}  // namespace saccade
