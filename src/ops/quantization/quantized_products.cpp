#include "ops/core/dispatch.hpp"
#include "ops/layers/convolve.hpp"
#include "ops/layers/matmul_shape.hpp"
#include "ops/quantization/quantization.hpp"

// Convolutions and GEMMs of 8-bit integers, accumulated in int32: QLinearConv, QLinearMatMul (requantized to 8 bits),
// ConvInteger, MatMulInteger (left as int32). Weights may have a scale and zero point per filter or column.
namespace saccade {
namespace {

void check_stored(const InferContext& context, int i) {
  require_type<std::int8_t, std::uint8_t>(context.dtype(i), "a quantised input");
}

/// Requantizes accumulators: one factor (input scales over output scale) for all, or one per slice.
class Requantizer {
 public:
  Requantizer(const Quantization& left, const Quantization& right, const Quantization& output)
      : zero_point_(output.zero_point.empty() ? 0 : output.zero_point[0]) {
    for (const float scale : right.scale) factors_.push_back(left.scale[0] * scale / output.scale[0]);
  }

  template <typename T>
  T to(std::uint32_t sum, std::int64_t slice) const {
    const float factor = factors_[factors_.size() == 1 ? 0 : static_cast<std::size_t>(slice)];
    return quantize<T>(static_cast<float>(static_cast<std::int32_t>(sum)) * factor, zero_point_);
  }

 private:
  std::vector<float> factors_;
  std::int32_t zero_point_;
};

void infer_qlinear_conv(InferContext& context) {
  check_stored(context, 0);
  check_stored(context, 3);
  const ConvShape shape = conv_shape(context.attributes(), context.shape(0), context.shape(3));
  check_quantization(context, 1, 2, context.dtype(0));
  check_quantization(context, 4, 5, context.dtype(3), shape.filters);
  const DType stored = context.has(7) ? context.dtype(7) : context.dtype(0);
  check_quantization(context, 6, 7, stored);
  require_type<std::int8_t, std::uint8_t>(stored, "a quantised output");
  if (context.has(8) && (context.dtype(8) != DType::kInt32 || context.shape(8) != Shape{shape.filters}))
    fail(ErrorCode::kInvalidFile, "the bias is {} {}, not int32 with one number for each of {} filters",
         to_string(context.dtype(8)), context.shape(8).to_string(), shape.filters);
  context.output(0, stored, shape.window.output_shape(shape.batch, shape.filters));
}

void reference_qlinear_conv(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  const ConvShape shape = conv_shape(context.attributes(), context.input(0).shape, context.input(3).shape);
  const Quantization of_input = quantization_of(context, 1, 2);
  const Quantization of_weights = quantization_of(context, 4, 5);
  const Requantizer requantize(of_input, of_weights, quantization_of(context, 6, 7));
  const auto input = centered(context.input(0), of_input);
  const auto weights = centered(context.input(3), of_weights);
  const std::int32_t* bias = context.has(8) ? context.in<std::int32_t>(8).data() : nullptr;
  const std::int64_t outputs = shape.window.outputs();
  with_type<std::int8_t, std::uint8_t>(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    T* output = context.out<T>().data();
    const auto store = [&](std::int64_t image, std::int64_t filter, std::int64_t first,
                           std::span<const std::uint32_t> sums) {
      const auto base = bias == nullptr ? 0U : static_cast<std::uint32_t>(bias[filter]);
      T* to = output + (image * shape.filters + filter) * outputs + first;
      for (const std::uint32_t sum : sums) *to++ = requantize.to<T>(sum + base, filter);
    };
    const auto source = [&](std::int64_t i) { return input[static_cast<std::size_t>(i)]; };
    convolve<std::uint32_t>(shape, false, source, weights.data(), store);
  });
}

/// Checks a zero point without a scale: one number, or one for each of COUNT slices.
void check_zero_point(const InferContext& context, int i, DType stored, std::int64_t count) {
  if (!context.has(i)) return;
  const Shape& shape = context.shape(i);
  if (context.dtype(i) != stored || (shape.elements() != 1 && shape != Shape{count}))
    fail(ErrorCode::kUnsupported, "zero point {} is {} {}; it must be {} with 1 or {} numbers", i,
         to_string(context.dtype(i)), shape.to_string(), to_string(stored), count);
}

void infer_conv_integer(InferContext& context) {
  check_stored(context, 0);
  check_stored(context, 1);
  const ConvShape shape = conv_shape(context.attributes(), context.shape(0), context.shape(1));
  check_zero_point(context, 2, context.dtype(0), 1);
  check_zero_point(context, 3, context.dtype(1), shape.filters);
  context.output(0, DType::kInt32, shape.window.output_shape(shape.batch, shape.filters));
}

void reference_conv_integer(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  const ConvShape shape = conv_shape(context.attributes(), context.input(0).shape, context.input(1).shape);
  const auto input = centered(context.input(0), zero_point_of(context, 2));
  const auto weights = centered(context.input(1), zero_point_of(context, 3));
  std::int32_t* output = context.out<std::int32_t>().data();
  const std::int64_t outputs = shape.window.outputs();
  const auto store = [&](std::int64_t image, std::int64_t filter, std::int64_t first,
                         std::span<const std::uint32_t> sums) {
    std::int32_t* to = output + (image * shape.filters + filter) * outputs + first;
    for (const std::uint32_t sum : sums) *to++ = static_cast<std::int32_t>(sum);
  };
  const auto source = [&](std::int64_t i) { return input[static_cast<std::size_t>(i)]; };
  convolve<std::uint32_t>(shape, false, source, weights.data(), store);
}

/// Calls store(row, accumulators of its n columns) for a GEMM of centred operands.
template <typename Store>
void multiply(const MatMulShape& shape, const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right,
              const Store& store) {
  if (shape.batch == 0) return;
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(shape.m * shape.n));
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    std::ranges::fill(sums, 0U);
    multiply_add(shape.m, shape.n, shape.k, left.data() + shape.left(batch), shape.k, right.data() + shape.right(batch),
                 shape.n, sums.data(), shape.n);
    for (std::int64_t row = 0; row < shape.m; ++row)
      store(batch * shape.m + row, std::span<const std::uint32_t>(sums).subspan(static_cast<std::size_t>(row * shape.n),
                                                                                static_cast<std::size_t>(shape.n)));
  }
}

void infer_qlinear_matmul(InferContext& context) {
  check_stored(context, 0);
  check_stored(context, 3);
  const MatMulShape shape(context.shape(0), context.shape(3));
  check_quantization(context, 1, 2, context.dtype(0));
  check_quantization(context, 4, 5, context.dtype(3), shape.n);
  const DType stored = context.has(7) ? context.dtype(7) : context.dtype(0);
  check_quantization(context, 6, 7, stored);
  require_type<std::int8_t, std::uint8_t>(stored, "a quantised output");
  context.output(0, stored, shape.output);
}

/// The axis of a matrix operand's columns.
int column_axis(const TensorView& matrix) { return std::max(matrix.shape.rank() - 1, 0); }

void reference_qlinear_matmul(const KernelContext& context) {
  const MatMulShape shape(context.input(0).shape, context.input(3).shape);
  const Quantization of_left = quantization_of(context, 1, 2);
  const Quantization of_right = quantization_of(context, 4, 5, column_axis(context.input(3)));
  const Requantizer requantize(of_left, of_right, quantization_of(context, 6, 7));
  const auto left = centered(context.input(0), of_left);
  const auto right = centered(context.input(3), of_right);
  with_type<std::int8_t, std::uint8_t>(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    T* output = context.out<T>().data();
    multiply(shape, left, right, [&](std::int64_t row, std::span<const std::uint32_t> sums) {
      for (std::int64_t col = 0; col < shape.n; ++col)
        output[row * shape.n + col] = requantize.to<T>(sums[static_cast<std::size_t>(col)], col);
    });
  });
}

void infer_matmul_integer(InferContext& context) {
  check_stored(context, 0);
  check_stored(context, 1);
  const MatMulShape shape(context.shape(0), context.shape(1));
  check_zero_point(context, 2, context.dtype(0), 1);
  check_zero_point(context, 3, context.dtype(1), shape.n);
  context.output(0, DType::kInt32, shape.output);
}

void reference_matmul_integer(const KernelContext& context) {
  const MatMulShape shape(context.input(0).shape, context.input(1).shape);
  const auto left = centered(context.input(0), zero_point_of(context, 2));
  const auto right = centered(context.input(1), zero_point_of(context, 3, column_axis(context.input(1))));
  std::int32_t* output = context.out<std::int32_t>().data();
  multiply(shape, left, right, [&](std::int64_t row, std::span<const std::uint32_t> sums) {
    for (std::int64_t col = 0; col < shape.n; ++col)
      output[row * shape.n + col] = static_cast<std::int32_t>(sums[static_cast<std::size_t>(col)]);
  });
}

constexpr OpTraits kQLinearConvTraits{.arity = {8, 9}, .cost = {.per = CostPer::kProduct}};
constexpr OpTraits kConvIntegerTraits{.arity = {2, 4}, .cost = {.per = CostPer::kProduct}};
constexpr OpTraits kQLinearMatMulTraits{.arity = {8, 8}, .cost = {.per = CostPer::kProduct}};

constexpr Op kQuantizedProductsOps[] = {
    {"", "QLinearConv", infer_qlinear_conv, reference_qlinear_conv, kQLinearConvTraits},
    {"", "ConvInteger", infer_conv_integer, reference_conv_integer, kConvIntegerTraits},
    {"", "QLinearMatMul", infer_qlinear_matmul, reference_qlinear_matmul, kQLinearMatMulTraits},
    {"", "MatMulInteger", infer_matmul_integer, reference_matmul_integer, kConvIntegerTraits},
};

}  // namespace

std::span<const Op> quantized_products_ops() { return kQuantizedProductsOps; }

}  // namespace saccade
