#include <cmath>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/core/strided_copy.hpp"
#include "ops/core/values.hpp"

// Constant, ConstantOfShape, Range and EyeLike: tensors generated from attributes and scalars.
namespace saccade {
namespace {

Tensor strings_of(const std::vector<std::string>& values, const Shape& shape) {
  Tensor tensor(DType::kString, shape);
  std::ranges::copy(values, tensor.strings().begin());
  return tensor;
}

Tensor constant_of(const Attributes& attributes) {
  const auto count = [](const auto& values) { return Shape{static_cast<std::int64_t>(values.size())}; };
  if (const Tensor* tensor = attributes.tensor("value")) return *tensor;
  if (attributes.has("value_float")) return Tensor::scalar(attributes.real("value_float", 0));
  if (attributes.has("value_int")) return Tensor::scalar(attributes.integer("value_int", 0));
  if (attributes.has("value_string")) return strings_of({attributes.text("value_string")}, {});
  if (attributes.has("value_floats")) {
    const auto values = attributes.reals("value_floats");
    return Tensor::of<float>(count(values), values);
  }
  if (attributes.has("value_ints")) {
    const auto values = attributes.integers("value_ints");
    return Tensor::of<std::int64_t>(count(values), values);
  }
  if (attributes.has("value_strings")) {
    const auto values = attributes.texts("value_strings");
    return strings_of(values, count(values));
  }
  fail(ErrorCode::kUnsupported, "Constant has no dense value");
}

void infer_constant(InferContext& context) {
  const Tensor value = constant_of(context.attributes());
  context.output(0, value.dtype(), value.shape());
}

void constant(const KernelContext& context) {
  const Tensor value = constant_of(context.attributes());
  strided_copy(value.dtype(), value.shape(), strided(view_of(value)), strided(context.output()));
}

/// The fill value of ConstantOfShape: a tensor of one element, float32 0 if the attribute is missing.
Tensor repeated_value(const Attributes& attributes) {
  const Tensor* value = attributes.tensor("value");
  if (value == nullptr) return Tensor::scalar(0.0F);
  if (value->elements() != 1)
    fail(ErrorCode::kInvalidFile, "ConstantOfShape's value has {} elements, not 1", value->elements());
  return *value;
}

void infer_constant_of_shape(InferContext& context) {
  const auto dims = context.integers(0, "ConstantOfShape's shape");
  context.output(0, repeated_value(context.attributes()).dtype(), Shape(dims));
}

void constant_of_shape(const KernelContext& context) {
  const Tensor value = repeated_value(context.attributes());
  fill_with(context.output(), view_of(value));
}

/// The number of elements of start, start + delta, ... before limit.
template <typename T>
std::int64_t range_count(T start, T limit, T delta) {
  if (delta == T{0}) fail(ErrorCode::kInvalidFile, "Range has a delta of 0");
  if constexpr (std::is_integral_v<T>) {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    // Unsigned differences hold the distance between any two signed numbers.
    const auto from = static_cast<std::uint64_t>(static_cast<std::int64_t>(start));
    const auto to = static_cast<std::uint64_t>(static_cast<std::int64_t>(limit));
    const auto step = static_cast<std::uint64_t>(static_cast<std::int64_t>(delta));
    const std::uint64_t steps = delta > 0 ? (to - from - 1) / step : (from - to - 1) / (0 - step);
    return steps >= std::uint64_t{1} << 48 ? std::int64_t{1} << 49 : static_cast<std::int64_t>(steps) + 1;
  } else {
    const double count = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / delta);
    if (!(count < 0x1p48)) fail(ErrorCode::kUnsupported, "Range makes too many elements");
    return count > 0 ? static_cast<std::int64_t>(count) : 0;
  }
}

void infer_range(InferContext& context) {
  const DType dtype = context.dtype(0);
  for (int i = 0; i < 3; ++i) {
    if (context.dtype(i) != dtype) fail(ErrorCode::kInvalidFile, "Range mixes types");
    if (context.known(i) == nullptr)
      fail(ErrorCode::kUnsupported, "Range's bounds (input {}) depend on the model's inputs; they must be constant", i);
    if (context.shape(i).elements() != 1) fail(ErrorCode::kInvalidFile, "Range's bounds must be scalars");
  }
  std::int64_t count = 0;
  with_number(dtype, [&]<typename T>(std::type_identity<T>) {
    const auto bound = [&](int i) { return static_cast<Accumulator<T>>(view_of(*context.known(i)).as<const T>()[0]); };
    count = range_count(bound(0), bound(1), bound(2));
  });
  context.output(0, dtype, {count});
}

void range(const KernelContext& context) {
  with_number(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    const auto start = static_cast<Wide>(context.in<T>(0)[0]);
    const auto delta = static_cast<Wide>(context.in<T>(2)[0]);
    const auto to = context.out<T>();
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(start + static_cast<Wide>(i) * delta));
  });
}

DType eye_type(const Attributes& attributes, DType otherwise) {
  const DType dtype = attributes.has("dtype") ? dtype_of_onnx(attributes.integer("dtype", 0)) : otherwise;
  if (!is_number(dtype) && dtype != DType::kBool)
    fail(ErrorCode::kUnsupported, "EyeLike can't make {} elements", to_string(dtype));
  return dtype;
}

void infer_eye_like(InferContext& context) {
  if (context.shape(0).rank() != 2)
    fail(ErrorCode::kInvalidFile, "EyeLike takes a matrix, not {}", context.shape(0).to_string());
  context.output(0, eye_type(context.attributes(), context.dtype(0)), context.shape(0));
}

void eye_like(const KernelContext& context) {
  const TensorView& to = context.output();
  fill_with_zero(to);
  const std::int64_t k = context.attributes().integer("k", 0);
  const std::int64_t rows = to.shape[0];
  const std::int64_t columns = to.shape[1];
  if (k >= columns || k <= -rows) return;
  const std::int64_t first = k < 0 ? -k * columns : k;
  const std::int64_t count = k < 0 ? std::min(rows + k, columns) : std::min(rows, columns - k);
  const auto set = [&]<typename T>(T one) {
    T* diagonal = static_cast<T*>(to.data) + first;
    for (std::int64_t i = 0; i < count; ++i) diagonal[i * (columns + 1)] = one;
  };
  if (to.dtype == DType::kBool) return set(true);
  with_number(to.dtype, [&]<typename T>(std::type_identity<T>) { set(static_cast<T>(1)); });
}

constexpr OpTraits kConstantTraits{.arity = {0, 0}, .names_type = true, .cost = {.per = CostPer::kNothing}};
constexpr OpTraits kConstantOfShapeTraits{.names_type = true, .cost = {.per = CostPer::kNothing}};
constexpr OpTraits kEyeLikeTraits{.names_type = true, .cost = {.per = CostPer::kNothing}, .reads = Reads::kShape};

constexpr Op kGenerateOps[] = {
    {"", "Constant", infer_constant, constant, kConstantTraits},
    {"", "ConstantOfShape", infer_constant_of_shape, constant_of_shape, kConstantOfShapeTraits},
    {"", "Range", infer_range, range, {.arity = {3, 3}, .cost = {.per = CostPer::kNothing}}},
    {"", "EyeLike", infer_eye_like, eye_like, kEyeLikeTraits},
};

}  // namespace

std::span<const Op> generate_ops() { return kGenerateOps; }

}  // namespace saccade
