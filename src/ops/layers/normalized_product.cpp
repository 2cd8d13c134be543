#include <cmath>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"
#include "ops/layers/multiply.hpp"

// saccade.NormalizedProduct: a LayerNormalization over the last dimension, followed by a GEMM. Inputs: rows, weights,
// bias (optional), scale and shift of the normalized elements (optional); alpha, beta and transB are those of Gemm.
// Computed in float64: intermediates are not rounded.
namespace saccade {
namespace {

enum ProductInput : int { kProductRows, kWeights, kBias, kScale, kShift };

struct Lengths {
  std::int64_t rows, channels, columns;
  bool transposed;
};

Lengths lengths_of(const Attributes& attributes, const Shape& rows, const Shape& weights) {
  const bool transposed = attributes.integer("transB", 0) != 0;
  if (rows.rank() < 1 || weights.rank() != 2 || weights[transposed ? 1 : 0] != rows.back())
    fail(ErrorCode::kInvalidFile, "NormalizedProduct can't multiply rows {} by weights {}{}", rows.to_string(),
         weights.to_string(), transposed ? " (transposed)" : "");
  return {rows.elements() / std::max<std::int64_t>(rows.back(), 1), rows.back(), weights[transposed ? 0 : 1],
          transposed};
}

void check_vector(const InferContext& context, int i, std::int64_t length) {
  if (!context.has(i)) return;
  require_type<float, Float16, BFloat16, double>(context.dtype(i), "a vector of NormalizedProduct");
  if (context.shape(i).elements() != length || context.shape(i).back() != length)
    fail(ErrorCode::kInvalidFile, "input {} of shape {} does not hold one number for each of {}", i,
         context.shape(i).to_string(), length);
}

void infer_normalized_product(InferContext& context) {
  context.require_outputs(1);
  require_type<float, Float16, BFloat16, double>(context.dtype(kProductRows), "NormalizedProduct");
  if (context.dtype(kWeights) != context.dtype(kProductRows))
    fail(ErrorCode::kInvalidFile, "the weights are {}, not {} like the rows", to_string(context.dtype(kWeights)),
         to_string(context.dtype(kProductRows)));
  const Lengths lengths = lengths_of(context.attributes(), context.shape(kProductRows), context.shape(kWeights));
  context.input(kScale);
  check_vector(context, kBias, lengths.columns);
  check_vector(context, kScale, lengths.channels);
  check_vector(context, kShift, lengths.channels);
  Shape shape = context.shape(kProductRows);
  shape[shape.rank() - 1] = lengths.columns;
  context.output(0, context.dtype(kProductRows), shape);
}

std::vector<double> reals(const KernelContext& context, int i, std::int64_t length) {
  if (!context.has(i)) return std::vector<double>(static_cast<std::size_t>(length), 0.0);
  std::vector<double> values;
  with_float(context.input(i).dtype, [&]<typename T>(std::type_identity<T>) {
    for (const T& element : context.in<T>(i)) values.push_back(static_cast<double>(element));
  });
  return values;
}

/// Normalizes COUNT elements to mean 0 and standard deviation 1.
void normalize(double* row, std::int64_t count, double epsilon) {
  double mean = 0;
  for (std::int64_t k = 0; k < count; ++k) mean += row[k] / static_cast<double>(count);
  double variance = 0;
  for (std::int64_t k = 0; k < count; ++k) variance += (row[k] - mean) * (row[k] - mean) / static_cast<double>(count);
  const double inverse = 1 / std::sqrt(variance + epsilon);
  for (std::int64_t k = 0; k < count; ++k) row[k] = (row[k] - mean) * inverse;
}

/// The left operand: the rows, normalized.
std::vector<double> left_of(const KernelContext& context, const Lengths& lengths) {
  std::vector<double> left = reals(context, kProductRows, 0);
  const std::vector<double> scale = reals(context, kScale, lengths.channels);
  const std::vector<double> shift = reals(context, kShift, lengths.channels);
  const double epsilon = context.attributes().real("epsilon", 1e-5F);
  double* row = left.data();
  for (std::int64_t i = 0; i < lengths.rows; ++i, row += lengths.channels) {
    normalize(row, lengths.channels, epsilon);
    for (std::size_t k = 0; k < scale.size(); ++k) row[k] = row[k] * scale[k] + shift[k];
  }
  return left;
}

/// The weights by channel and column, scaled by alpha.
std::vector<double> right_of(const KernelContext& context, const Lengths& lengths) {
  const std::vector<double> given = reals(context, kWeights, 0);
  const double alpha = context.attributes().real("alpha", 1);
  std::vector<double> right(given.size());
  for (std::int64_t k = 0; k < lengths.channels; ++k)
    for (std::int64_t n = 0; n < lengths.columns; ++n)
      right[static_cast<std::size_t>(k * lengths.columns + n)] =
          alpha *
          given[static_cast<std::size_t>(lengths.transposed ? n * lengths.channels + k : k * lengths.columns + n)];
  return right;
}

void multiply(const KernelContext& context) {
  if (context.output().elements() == 0) return;
  const Lengths lengths =
      lengths_of(context.attributes(), context.input(kProductRows).shape, context.input(kWeights).shape);
  const std::vector<double> left = left_of(context, lengths);
  const std::vector<double> right = right_of(context, lengths);
  const double beta = context.attributes().real("beta", 1);
  const std::vector<double> bias = reals(context, kBias, lengths.columns);
  std::vector<double> sums;
  for (std::int64_t i = 0; i < lengths.rows; ++i)
    for (const double value : bias) sums.push_back(beta * value);
  multiply_add(lengths.rows, lengths.columns, lengths.channels, left.data(), lengths.channels, right.data(),
               lengths.columns, sums.data(), lengths.columns);
  with_float(context.output().dtype, [&]<typename T>(std::type_identity<T>) {
    T* to = context.out<T>().data();
    for (const double sum : sums) *to++ = static_cast<T>(static_cast<Accumulator<T>>(sum));
  });
}

constexpr OpTraits kNormalizedProductTraits{.arity = {4, 5}, .cost = {.per = CostPer::kProduct}};

constexpr Op kNormalizedProductOps[] = {
    {"saccade", "NormalizedProduct", infer_normalized_product, multiply, kNormalizedProductTraits}};

}  // namespace

std::span<const Op> normalized_product_ops() { return kNormalizedProductOps; }

}  // namespace saccade
