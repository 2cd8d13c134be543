#pragma once

#include <cstdint>

namespace saccade {

namespace detail {

/// A tile of kRows x kCols accumulators, small enough for the registers.
template <int kRows, int kCols, typename T>
void multiply_tile(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c, std::int64_t ldc) {
  T sums[kRows][kCols];
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kCols; ++col) sums[row][col] = c[row * ldc + col];
  for (std::int64_t i = 0; i < k; ++i) {
    for (int row = 0; row < kRows; ++row)
      for (int col = 0; col < kCols; ++col) sums[row][col] += a[row * lda + i] * b[i * ldb + col];
  }
  for (int row = 0; row < kRows; ++row)
    for (int col = 0; col < kCols; ++col) c[row * ldc + col] = sums[row][col];
}

template <int kCols, typename T>
void multiply_columns(std::int64_t m, std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T* c,
                      std::int64_t ldc) {
  std::int64_t row = 0;
  for (; row + 4 <= m; row += 4) multiply_tile<4, kCols>(k, a + row * lda, lda, b, ldb, c + row * ldc, ldc);
  for (; row < m; ++row) multiply_tile<1, kCols>(k, a + row * lda, lda, b, ldb, c + row * ldc, ldc);
}

}  // namespace detail

/// C (m x n) += A (m x k) * B (k x n), all row-major; lda, ldb, ldc are row strides in elements. Columns in blocks of
/// eight: the compiler keeps a tile of accumulators in vector registers and reads B along its rows.
template <typename T>
void multiply_add(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                  std::int64_t ldb, T* c, std::int64_t ldc) {
  if (m == 0 || k == 0) return;  // an empty matrix may have no address
  std::int64_t col = 0;
  for (; col + 8 <= n; col += 8) detail::multiply_columns<8>(m, k, a, lda, b + col, ldb, c + col, ldc);
  for (; col < n; ++col) detail::multiply_columns<1>(m, k, a, lda, b + col, ldb, c + col, ldc);
}

}  // namespace saccade
