#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace saccade {

/// Linear assignment: pairs rows with columns so that the sum of their weights is largest. Shortest augmenting paths,
/// as in D. F. Crouse, "On implementing 2D rectangular assignment algorithms", 2016, which SciPy's
/// linear_sum_assignment follows. Allocates only for a matrix that is larger than all before.
class Assignment {
 public:
  /// WEIGHTS of ROWS x COLUMNS, row by row. Pairs min(ROWS, COLUMNS) of them. One that is not finite counts as 0.
  void solve(std::span<const double> weights, std::size_t rows, std::size_t columns);

  /// Makes room for a matrix of SIDE x SIDE.
  void reserve(std::size_t side);

  /// The column of a row; -1: none.
  int column_of(std::size_t row) const { return is_transposed_ ? row_of_[row] : column_of_[row]; }

 private:
  double cost(std::size_t row, std::size_t column) const {
    const double weight = is_transposed_ ? weights_[column * rows_ + row] : weights_[row * columns_ + column];
    return std::isfinite(weight) ? -weight : 0;
  }
  void add(std::size_t row);
  std::size_t find_sink(std::size_t row);

  // Of the problem with at most as many rows as columns.
  std::span<const double> weights_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  bool is_transposed_ = false;
  std::vector<int> column_of_;  ///< by row
  std::vector<int> row_of_;     ///< by column
  std::vector<double> row_dual_;
  std::vector<double> column_dual_;
  // Of one augmenting path.
  std::vector<double> distance_;   ///< by column
  std::vector<int> previous_;      ///< by column: the row before it
  std::vector<std::size_t> open_;  ///< columns that are not reached yet
  std::vector<bool> is_row_seen_;
  std::vector<bool> is_column_seen_;
  double reach_ = 0;
};

}  // namespace saccade
