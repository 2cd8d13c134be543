#include <cmath>
#include <utility>
#include <vector>

#include "ops/core/dispatch.hpp"
#include "ops/core/op.hpp"

// Det: the determinant of every square matrix in the last two dimensions, by Gaussian elimination in float64.
namespace saccade {
namespace {

void infer_det(InferContext& context) {
  require_type<float, Float16, BFloat16, double>(context.dtype(0), "an input");
  const Shape& shape = context.shape(0);
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape[rank - 2])
    fail(ErrorCode::kInvalidFile, "Det takes square matrices, not {}", shape.to_string());
  context.output(0, context.dtype(0), Shape(std::span(shape.begin(), static_cast<std::size_t>(rank - 2))));
}

/// Subtracts multiples of row COLUMN from the rows below, so that their element in this column becomes zero.
void eliminate(std::vector<double>& matrix, std::size_t size, std::size_t column) {
  const double* pivot = matrix.data() + column * size;
  for (std::size_t row = column + 1; row < size; ++row) {
    double* line = matrix.data() + row * size;
    const double factor = line[column] / pivot[column];
    for (std::size_t i = column; i < size; ++i) line[i] -= factor * pivot[i];
  }
}

/// Partial pivoting: moves the largest element of COLUMN at or below the diagonal onto it; false if rows were
/// exchanged.
bool pivot(std::vector<double>& matrix, std::size_t size, std::size_t column) {
  std::size_t best = column;
  for (std::size_t row = column + 1; row < size; ++row)
    if (std::abs(matrix[row * size + column]) > std::abs(matrix[best * size + column])) best = row;
  if (best == column) return true;
  for (std::size_t i = 0; i < size; ++i) std::swap(matrix[best * size + i], matrix[column * size + i]);
  return false;
}

/// The product of the diagonal of the triangular matrix; every exchange of rows flips the sign.
double determinant(std::vector<double>& matrix, std::size_t size) {
  double product = 1;
  for (std::size_t column = 0; column < size; ++column) {
    if (!pivot(matrix, size, column)) product = -product;
    const double diagonal = matrix[column * size + column];
    if (diagonal == 0) return 0;
    product *= diagonal;
    eliminate(matrix, size, column);
  }
  return product;
}

void det(const KernelContext& context) {
  const Shape& shape = context.input(0).shape;
  const auto size = static_cast<std::size_t>(shape.back());
  with_float(context.input(0).dtype, [&]<typename T>(std::type_identity<T>) {
    const auto from = context.in<T>(0);
    const auto to = context.out<T>();
    std::vector<double> matrix(size * size);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * matrix.size());
      std::copy(first, first + static_cast<std::ptrdiff_t>(matrix.size()), matrix.begin());
      to[i] = static_cast<T>(static_cast<Accumulator<T>>(determinant(matrix, size)));
    }
  });
}

constexpr Op kDetOps[] = {{"", "Det", infer_det, det}};

}  // namespace

std::span<const Op> det_ops() { return kDetOps; }

}  // namespace saccade
