#include <algorithm>
#include <cmath>

#include "ops/core/broadcast.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/index.hpp"
#include "ops/core/strided.hpp"

// LpNormalization, RMSNormalization and MeanVarianceNormalization: every element divided by a statistic over some axes.
// Statistics in float64.
namespace saccade {
namespace {

/// The elements of a tensor, and the group that each belongs to.
class Groups {
 public:
  Groups(const Shape& shape, std::span<const int> axes) : shape_(shape), groups_(shape) {
    for (const int axis : axes) groups_[axis] = 1;
  }
  /// One entry per group.
  std::vector<double> entries() const { return std::vector<double>(static_cast<std::size_t>(groups_.elements())); }
  double members() const { return static_cast<double>(shape_.elements()) / static_cast<double>(groups_.elements()); }

  /// Calls visit(element, group, position in a tensor of shape OTHER that broadcasts to this one).
  template <typename Visit>
  void each(const Shape& other, const Visit& visit) const {
    const StridedLoop<3> loop(
        shape_, {dense_strides(shape_), broadcast_strides(groups_, shape_), broadcast_strides(other, shape_)});
    loop.run({}, [&](const auto& at, std::int64_t count, const auto& step) {
      const auto index = [&](std::size_t i, std::int64_t k) { return static_cast<std::size_t>(at[i] + k * step[i]); };
      for (std::int64_t k = 0; k < count; ++k) visit(index(0, k), index(1, k), index(2, k));
    });
  }
  template <typename Visit>
  void each(const Visit& visit) const {
    each(Shape{}, [&](std::size_t element, std::size_t group, std::size_t) { visit(element, group); });
  }

 private:
  Shape shape_;
  Shape groups_;
};

void infer_same(InferContext& context) {
  require_type<float, double, Float16, BFloat16>(context.dtype(0), "an input");
  context.output(0, context.dtype(0), context.shape(0));
}

void infer_lp(InferContext& context) {
  infer_same(context);
  axis_of(context.attributes(), context.shape(0), -1);
  const std::int64_t p = context.attributes().integer("p", 2);
  if (p != 1 && p != 2) fail(ErrorCode::kInvalidFile, "LpNormalization's p is {}, not 1 or 2", p);
}

void reference_lp(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const std::array axes = {axis_of(context.attributes(), shape, -1)};
  const bool squares = context.attributes().integer("p", 2) == 2;
  const Groups groups(shape, axes);
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto from = context.in<T>(0);
    const auto to = context.out<T>();
    auto norms = groups.entries();
    groups.each([&](std::size_t i, std::size_t group) {
      const auto value = static_cast<double>(from[i]);
      norms[group] += squares ? value * value : std::abs(value);
    });
    if (squares) std::ranges::transform(norms, norms.begin(), [](double sum) { return std::sqrt(sum); });
    groups.each([&](std::size_t i, std::size_t group) {
      const double normal = norms[group] == 0 ? 0 : static_cast<double>(from[i]) / norms[group];
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(normal));
    });
  });
}

/// The axes from the attribute "axis" to the last.
std::vector<int> trailing_axes(const Attributes& attributes, const Shape& shape) {
  std::vector<int> axes;
  for (int axis = axis_of(attributes, shape, -1); axis < shape.rank(); ++axis) axes.push_back(axis);
  return axes;
}

void infer_rms(InferContext& context) {
  infer_same(context);
  const Shape& shape = context.shape(0);
  trailing_axes(context.attributes(), shape);
  require_type<float, double, Float16, BFloat16>(context.dtype(1), "a scale");
  if (broadcast_shape(context.shape(1), shape) != shape)
    fail(ErrorCode::kInvalidFile, "a scale of shape {} does not fit {}", context.shape(1).to_string(),
         shape.to_string());
  // ONNX gives the output the scale's type.
  context.output(0, context.dtype(1), shape);
}

template <typename T, typename Scale>
void rms(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const double epsilon = context.attributes().real("epsilon", 1e-5F);
  const auto from = context.in<T>(0);
  const auto scale = context.in<Scale>(1);
  const auto to = context.out<Scale>();
  const Groups groups(shape, trailing_axes(context.attributes(), shape));
  auto roots = groups.entries();
  groups.each([&](std::size_t i, std::size_t group) {
    const auto value = static_cast<double>(from[i]);
    roots[group] += value * value;
  });
  for (double& root : roots) root = std::sqrt(root / groups.members() + epsilon);
  groups.each(context.input(1).shape, [&](std::size_t i, std::size_t group, std::size_t at) {
    const double normal = static_cast<double>(from[i]) / roots[group] * static_cast<double>(scale[at]);
    to[i] = static_cast<Scale>(static_cast<Accumulator<Scale>>(normal));
  });
}

void reference_rms(const KernelContext& context) {
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    with_float(context.input(1).dtype, [&]<typename Scale>(std::type_identity<Scale>) { rms<T, Scale>(context); });
  });
}

std::vector<int> listed_axes(const Attributes& attributes, const Shape& shape) {
  std::vector<int> axes;
  for (const std::int64_t axis : attributes.integers("axes", {0, 2, 3}))
    axes.push_back(InferContext::axis(axis, shape.rank()));
  return axes;
}

void infer_mean_variance(InferContext& context) {
  infer_same(context);
  listed_axes(context.attributes(), context.shape(0));
}

void reference_mean_variance(const KernelContext& context) {
  // ONNX adds this to the deviation, not to the variance.
  constexpr double kEpsilon = 1e-9;
  const Shape& shape = context.input(0).shape;
  const Groups groups(shape, listed_axes(context.attributes(), shape));
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto from = context.in<T>(0);
    const auto to = context.out<T>();
    auto means = groups.entries();
    groups.each([&](std::size_t i, std::size_t group) { means[group] += static_cast<double>(from[i]); });
    for (double& mean : means) mean /= groups.members();
    auto deviations = groups.entries();
    groups.each([&](std::size_t i, std::size_t group) {
      const double distance = static_cast<double>(from[i]) - means[group];
      deviations[group] += distance * distance;
    });
    for (double& deviation : deviations) deviation = std::sqrt(deviation / groups.members()) + kEpsilon;
    groups.each([&](std::size_t i, std::size_t group) {
      const double normal = (static_cast<double>(from[i]) - means[group]) / deviations[group];
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(normal));
    });
  });
}

// Operations: sum of squares, two factors.
constexpr OpTraits kRMSNormalizationTraits{.arity = {2, 2}, .float_inputs = kAnyNumber, .cost = {.operations = 4}};

constexpr Op kScaleNormalizationOps[] = {
    {"", "LpNormalization", infer_lp, reference_lp},
    {"", "RMSNormalization", infer_rms, reference_rms, kRMSNormalizationTraits},
    {"", "MeanVarianceNormalization", infer_mean_variance, reference_mean_variance},
};

}  // namespace

std::span<const Op> scale_normalization_ops() { return kScaleNormalizationOps; }

}  // namespace saccade
