#include <algorithm>

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/values.hpp"
#include "ops/sampling/resize_axis.hpp"

// Resize: inputs X, roi, scales, sizes (one of the last two). Nearest copies elements; linear and cubic resample axis
// by axis in float32 (float64 for 64-bit types).
namespace saccade {
namespace {

std::vector<float> floats_of(const TensorView& view) {
  std::vector<float> values;
  if (view.data == nullptr) return values;
  with_type<float, double, Float16>(view.dtype, [&]<typename T>(std::type_identity<T>) {
    for (const T value : view.as<const T>()) values.push_back(static_cast<float>(value));
  });
  return values;
}

/// A constant input's elements; an empty view if it is omitted or empty.
TensorView known_view(const InferContext& context, int i, std::string_view what) {
  if (!context.has(i) || context.shape(i).elements() == 0) return {};
  const Tensor* tensor = context.known(i);
  if (tensor == nullptr)
    fail(ErrorCode::kUnsupported, "Resize's {} depend on the model's inputs; they must be constants", what);
  return view_of(*tensor);
}

void infer_resize(InferContext& context) {
  const Attributes& attributes = context.attributes();
  const bool nearest = attributes.text("mode", "nearest") == "nearest";
  if (bits_of(context.dtype(0)) % 8 != 0 || bits_of(context.dtype(0)) > 64)
    fail(ErrorCode::kUnsupported, "Resize of {} is not supported", to_string(context.dtype(0)));
  const bool crops = attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  if ((!nearest || crops) && !is_number(context.dtype(0)))
    fail(ErrorCode::kUnsupported, "Resize of {} is supported in nearest mode without a crop only",
         to_string(context.dtype(0)));
  if (nearest && attributes.integer("antialias", 0) != 0)
    fail(ErrorCode::kUnsupported, "Resize can't smooth in nearest mode; antialias needs linear or cubic");
  if (context.has(3) && context.dtype(3) != DType::kInt64)
    fail(ErrorCode::kInvalidFile, "Resize's sizes are {}, not int64", to_string(context.dtype(3)));
  resize_taps(attributes, {});  // reports an invalid mode now, not when the kernel runs
  Shape output;
  for (const ResizeAxis& axis : resize_axes(attributes, context.shape(0), floats_of(known_view(context, 2, "scales")),
                                            integers_of(known_view(context, 3, "sizes")), {}))
    output.push_back(axis.out);
  if (crops) {
    if (!context.has(1)) fail(ErrorCode::kInvalidFile, "Resize by tf_crop_and_resize needs a region of interest");
    require_type<float, double, Float16>(context.dtype(1), "a region of interest");
  }
  context.output(0, context.dtype(0), output);
}

using AxisTaps = std::vector<ResizeTap>;  // empty: the axis is not resized

bool is_identity(const AxisTaps& taps, std::int64_t length) {
  if (static_cast<std::int64_t>(taps.size()) != length) return false;
  for (std::int64_t i = 0; i < length; ++i) {
    const ResizeTap& tap = taps[static_cast<std::size_t>(i)];
    if (tap.outside || tap.first != i || tap.weights != std::vector<float>{1.0F}) return false;
  }
  return true;
}

/// Resamples FROM (outer x in x inner) along its middle axis.
template <typename Number>
std::vector<Number> resample(const std::vector<Number>& from, const AxisTaps& taps, std::int64_t in,
                             std::int64_t inner) {
  const std::int64_t outer = std::ssize(from) / (in * inner);
  std::vector<Number> to(static_cast<std::size_t>(outer * std::ssize(taps) * inner), Number{});
  Number* line = to.data();
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const ResizeTap& tap : taps) {
      const Number* source = from.data() + (i * in + tap.first) * inner;
      for (const float weight : tap.weights) {
        for (std::int64_t k = 0; k < inner; ++k) line[k] += static_cast<Number>(weight) * source[k];
        source += inner;
      }
      line += inner;
    }
  }
  return to;
}

template <typename T>
void interpolate(const KernelContext& context, const std::vector<AxisTaps>& taps) {
  // 64-bit integers exceed float's precision; ONNX Runtime computes 32-bit ones in float, too.
  using Number = std::conditional_t<sizeof(T) == 8, double, float>;
  const auto input = context.in<T>(0);
  const Shape& shape = context.input(0).shape;
  std::vector<Number> values(input.begin(), input.end());
  std::int64_t inner = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const AxisTaps& along = taps[static_cast<std::size_t>(axis)];
    if (!along.empty() && !is_identity(along, shape[axis])) values = resample(values, along, shape[axis], inner);
    inner *= along.empty() ? shape[axis] : std::ssize(along);
  }
  std::ranges::transform(values, context.out<T>().begin(), [](Number value) { return element_of<T>(value); });
}

/// Calls visit(index) for every position of SHAPE without its last axis, in order.
template <typename Visit>
void for_each_line(const Shape& shape, const Visit& visit) {
  Shape index = Shape::filled(shape.rank(), 0);
  for (std::int64_t line = 0; line < shape.elements() / std::max<std::int64_t>(shape.back(), 1); ++line) {
    visit(index);
    for (int axis = shape.rank() - 2; axis >= 0; --axis) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Nearest: elements are only moved, so that WORD serves every type of its size.
template <typename Word>
void pick(const KernelContext& context, const std::vector<AxisTaps>& taps) {
  const Shape& from = context.input(0).shape;
  const Shape& to = context.output().shape;
  const Shape steps = dense_strides(from);
  const auto* source = static_cast<const Word*>(context.input(0).data);
  auto* target = static_cast<Word*>(context.output().data);
  const auto position = [&](int axis, std::int64_t i) {
    const AxisTaps& along = taps[static_cast<std::size_t>(axis)];
    return along.empty() ? i : along[static_cast<std::size_t>(i)].first;
  };
  std::vector<std::int64_t> last;
  for (std::int64_t i = 0; i < to.back(); ++i) last.push_back(position(to.rank() - 1, i));
  for_each_line(to, [&](const Shape& index) {
    const Word* line = source;
    for (int axis = 0; axis < to.rank() - 1; ++axis) line += position(axis, index[axis]) * steps[axis];
    for (const std::int64_t i : last) *target++ = line[i];
  });
}

/// Overwrites elements outside of the input on any axis.
template <typename T>
void extrapolate(const KernelContext& context, const std::vector<AxisTaps>& taps) {
  const auto value = element_of<T>(context.attributes().real("extrapolation_value", 0));
  const Shape& shape = context.output().shape;
  const auto outside = [&](int axis, std::int64_t i) {
    const AxisTaps& along = taps[static_cast<std::size_t>(axis)];
    return !along.empty() && along[static_cast<std::size_t>(i)].outside;
  };
  T* target = context.out<T>().data();
  for_each_line(shape, [&](const Shape& index) {
    bool whole_line = false;
    for (int axis = 0; axis < shape.rank() - 1; ++axis) whole_line = whole_line || outside(axis, index[axis]);
    for (std::int64_t i = 0; i < shape.back(); ++i, ++target)
      if (whole_line || outside(shape.rank() - 1, i)) *target = value;
  });
}

void pick_by_size(const KernelContext& context, const std::vector<AxisTaps>& taps) {
  switch (bits_of(context.input(0).dtype)) {
    case 8: return pick<std::uint8_t>(context, taps);
    case 16: return pick<std::uint16_t>(context, taps);
    case 32: return pick<std::uint32_t>(context, taps);
    default: return pick<std::uint64_t>(context, taps);
  }
}

void reference_resize(const KernelContext& context) {
  if (context.output().elements() == 0 || context.output().shape.rank() == 0) return;
  const Attributes& attributes = context.attributes();
  const auto input = [&](int i) { return context.has(i) ? context.input(i) : TensorView{}; };
  const bool crops = attributes.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  const auto axes = resize_axes(attributes, context.input(0).shape, floats_of(input(2)), integers_of(input(3)),
                                crops ? floats_of(input(1)) : std::vector<float>{});
  std::vector<AxisTaps> taps;
  taps.reserve(axes.size());
  for (const ResizeAxis& axis : axes) taps.push_back(axis.resized ? resize_taps(attributes, axis) : AxisTaps{});
  if (attributes.text("mode", "nearest") == "nearest") {
    pick_by_size(context, taps);
  } else {
    with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { interpolate<T>(context, taps); });
  }
  if (crops)
    with_number(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { extrapolate<T>(context, taps); });
}

constexpr Op kResizeOps[] = {{"", "Resize", infer_resize, reference_resize, {.arity = {1, 4}, .float_inputs = 1}}};

}  // namespace

std::span<const Op> resize_ops() { return kResizeOps; }

}  // namespace saccade
