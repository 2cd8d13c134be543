#include <algorithm>
#include <optional>
#include <vector>

#include "ops/core/arithmetic.hpp"
#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/layers/matmul_shape.hpp"
#include "ops/layers/multiply.hpp"

// MatMul (NumPy's rules) and Gemm. MatMul has an optional third input that ONNX does not have, a bias along the
// output's last dimension: the passes fuse a constant Add into it.
namespace saccade {
namespace {

/// Integers are accumulated unsigned: the same bits, and overflow is defined.
template <typename T>
struct SumOf {
  using type = Accumulator<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct SumOf<T> {
  using type = std::make_unsigned_t<T>;
};
template <typename T>
using SumType = typename SumOf<T>::type;

/// A matrix's elements in the accumulator's type: the tensor's own memory if the types agree.
template <typename T>
class Operand {
 public:
  explicit Operand(std::span<const T> values) {
    if constexpr (std::is_same_v<T, SumType<T>>) {
      data_ = values.data();
    } else {
      copy_.assign(values.begin(), values.end());
      data_ = copy_.data();
    }
  }
  const SumType<T>* data() const { return data_; }

 private:
  std::vector<SumType<T>> copy_;
  const SumType<T>* data_ = nullptr;
};

void infer_matmul(InferContext& context) {
  require_type<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
      context.dtype(0), "an input");
  const MatMulShape shape(context.shape(0), context.shape(1));
  for (int i = 1; i < 3; ++i)
    if (context.has(i) && context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {} is {}, not {} like the first", i, to_string(context.dtype(i)),
           to_string(context.dtype(0)));
  if (context.has(2) && (shape.vector_right || context.shape(2) != Shape{shape.n}))
    fail(ErrorCode::kInvalidFile, "a bias of shape {} does not fit an output of shape {}", context.shape(2).to_string(),
         shape.output.to_string());
  context.output(0, context.dtype(0), shape.output);
}

template <typename T>
void matmul(const KernelContext& context) {
  const MatMulShape shape(context.input(0).shape, context.input(1).shape);
  const Operand<T> left(context.in<T>(0));
  const Operand<T> right(context.in<T>(1));
  const auto output = context.out<T>();
  std::vector<SumType<T>> start(static_cast<std::size_t>(shape.n), SumType<T>{});
  if (context.has(2)) std::ranges::copy(context.in<T>(2), start.begin());
  std::vector<SumType<T>> sums(static_cast<std::size_t>(shape.m * shape.n));
  auto* to = output.data();
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (auto row = sums.begin(); row != sums.end(); row += shape.n) std::ranges::copy(start, row);
    multiply_add(shape.m, shape.n, shape.k, left.data() + shape.left(batch), shape.k, right.data() + shape.right(batch),
                 shape.n, sums.data(), shape.n);
    for (const SumType<T> sum : sums) *to++ = static_cast<T>(sum);
  }
}

void reference_matmul(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  with_type<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
      context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { matmul<T>(context); });
}

/// Gemm's dimensions: m x k times k x n.
struct GemmShape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  bool left_transposed;
  bool right_transposed;
};

GemmShape gemm_shape(const Attributes& attributes, const Shape& left, const Shape& right) {
  const bool left_transposed = attributes.integer("transA", 0) != 0;
  const bool right_transposed = attributes.integer("transB", 0) != 0;
  if (left.rank() != 2 || right.rank() != 2 || left[left_transposed ? 0 : 1] != right[right_transposed ? 1 : 0])
    fail(ErrorCode::kInvalidFile, "Gemm can't multiply {}{} by {}{}", left.to_string(),
         left_transposed ? " (transposed)" : "", right.to_string(), right_transposed ? " (transposed)" : "");
  return {left[left_transposed ? 1 : 0], right[right_transposed ? 0 : 1], left[left_transposed ? 0 : 1],
          left_transposed, right_transposed};
}

void infer_gemm(InferContext& context) {
  require_type<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
      context.dtype(0), "an input");
  const GemmShape shape = gemm_shape(context.attributes(), context.shape(0), context.shape(1));
  for (int i = 1; i < 3; ++i)
    if (context.has(i) && context.dtype(i) != context.dtype(0))
      fail(ErrorCode::kInvalidFile, "input {} is {}, not {} like the first", i, to_string(context.dtype(i)),
           to_string(context.dtype(0)));
  const Shape output{shape.m, shape.n};
  if (context.has(2)) {
    const Shape& bias = context.shape(2);
    bool fits = bias.rank() <= 2;
    for (int i = 1; fits && i <= bias.rank(); ++i)
      fits = bias[bias.rank() - i] == 1 || bias[bias.rank() - i] == output[2 - i];
    if (!fits)
      fail(ErrorCode::kInvalidFile, "Gemm can't broadcast C of shape {} to {}", bias.to_string(), output.to_string());
  }
  context.output(0, context.dtype(0), output);
}

/// MATRIX (rows x cols) transposed, in the accumulator's type.
template <typename T>
std::vector<SumType<T>> transposed(std::span<const T> matrix, std::int64_t rows, std::int64_t cols) {
  std::vector<SumType<T>> result(matrix.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t col = 0; col < cols; ++col)
      result[static_cast<std::size_t>(col * rows + row)] = matrix[static_cast<std::size_t>(row * cols + col)];
  return result;
}

/// alpha * SUM + beta * BIAS. Unscaled integers wrap around; scaled ones are truncated and saturated to T.
template <typename T>
T scaled(SumType<T> sum, float alpha, T bias, float beta) {
  if constexpr (std::is_integral_v<T>) {
    if (alpha == 1 && beta == 1) return static_cast<T>(sum + static_cast<SumType<T>>(bias));
    return saturate<T>(static_cast<double>(alpha) * static_cast<double>(static_cast<T>(sum)) +
                       static_cast<double>(beta) * static_cast<double>(bias));
  } else {
    return static_cast<T>(static_cast<SumType<T>>(alpha) * sum +
                          static_cast<SumType<T>>(beta) * static_cast<SumType<T>>(bias));
  }
}

template <typename T>
void gemm(const KernelContext& context, const GemmShape& shape) {
  using S = SumType<T>;
  const float alpha = context.attributes().real("alpha", 1);
  const float beta = context.has(2) ? context.attributes().real("beta", 1) : 1;
  const auto matrix = [&](int i, bool turned, std::int64_t rows, std::int64_t cols) {
    const auto values = context.in<T>(i);
    return turned ? transposed(values, cols, rows) : std::vector<S>(values.begin(), values.end());
  };
  const auto left = matrix(0, shape.left_transposed, shape.m, shape.k);
  const auto right = matrix(1, shape.right_transposed, shape.k, shape.n);
  std::vector<S> sums(static_cast<std::size_t>(shape.m * shape.n), S{});
  multiply_add(shape.m, shape.n, shape.k, left.data(), shape.k, right.data(), shape.n, sums.data(), shape.n);
  std::int64_t row_step = 0;
  std::int64_t col_step = 0;
  const T* bias = nullptr;
  if (context.has(2)) {
    const Shape& from = context.input(2).shape;
    bias = context.in<T>(2).data();
    if (from.rank() >= 1 && from.back() != 1) col_step = 1;
    if (from.rank() == 2 && from[0] != 1) row_step = from[1];
  }
  const auto output = context.out<T>();
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t col = 0; col < shape.n; ++col) {
      const auto i = static_cast<std::size_t>(row * shape.n + col);
      output[i] = scaled(sums[i], alpha, bias == nullptr ? T{} : bias[row * row_step + col * col_step], beta);
    }
  }
}

void reference_gemm(const KernelContext& context) {
  const GemmShape shape = gemm_shape(context.attributes(), context.input(0).shape, context.input(1).shape);
  with_type<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>(
      context.input(0).dtype, [&]<typename T>(std::type_identity<T>) { gemm<T>(context, shape); });
}

constexpr OpTraits kMatMulTraits{.arity = {2, 2, 1}, .float_inputs = kAnyNumber, .cost = {.per = CostPer::kProduct}};
constexpr OpTraits kGemmTraits{.arity = {2, 3}, .float_inputs = kAnyNumber, .cost = {.per = CostPer::kProduct}};

constexpr Op kMatmulOps[] = {
    {"", "MatMul", infer_matmul, reference_matmul, kMatMulTraits},
    {"", "Gemm", infer_gemm, reference_gemm, kGemmTraits},
};

}  // namespace

std::span<const Op> matmul_ops() { return kMatmulOps; }

}  // namespace saccade
