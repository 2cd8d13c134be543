#include "base/assignment.hpp"

#include <limits>
#include <utility>

namespace saccade {

void Assignment::reserve(std::size_t side) {
  for (auto* each : {&column_of_, &row_of_, &previous_}) each->reserve(side);
  for (auto* each : {&row_dual_, &column_dual_, &distance_}) each->reserve(side);
  for (auto* each : {&is_row_seen_, &is_column_seen_}) each->reserve(side);
  open_.reserve(side);
}

void Assignment::solve(std::span<const double> weights, std::size_t rows, std::size_t columns) {
  weights_ = weights;
  is_transposed_ = rows > columns;
  rows_ = is_transposed_ ? columns : rows;
  columns_ = is_transposed_ ? rows : columns;
  column_of_.assign(rows_, -1);
  row_of_.assign(columns_, -1);
  row_dual_.assign(rows_, 0);
  column_dual_.assign(columns_, 0);
  for (std::size_t row = 0; row < rows_; ++row) add(row);
}

/// Assigns ROW, and changes the columns of rows before it along the shortest path.
void Assignment::add(std::size_t row) {
  const std::size_t sink = find_sink(row);
  row_dual_[row] += reach_;
  for (std::size_t i = 0; i < rows_; ++i)
    if (is_row_seen_[i] && i != row) row_dual_[i] += reach_ - distance_[static_cast<std::size_t>(column_of_[i])];
  for (std::size_t j = 0; j < columns_; ++j)
    if (is_column_seen_[j]) column_dual_[j] -= reach_ - distance_[j];
  for (int column = static_cast<int>(sink);;) {
    const int before = previous_[static_cast<std::size_t>(column)];
    row_of_[static_cast<std::size_t>(column)] = before;
    std::swap(column_of_[static_cast<std::size_t>(before)], column);
    if (static_cast<std::size_t>(before) == row) return;
  }
}

/// The free column that is nearest to ROW.
std::size_t Assignment::find_sink(std::size_t row) {
  reach_ = 0;
  distance_.assign(columns_, std::numeric_limits<double>::infinity());
  previous_.assign(columns_, -1);
  is_row_seen_.assign(rows_, false);
  is_column_seen_.assign(columns_, false);
  open_.resize(columns_);
  // The last column comes first, so that equal weights keep the order of rows and columns.
  for (std::size_t j = 0; j < columns_; ++j) open_[j] = columns_ - 1 - j;
  for (std::size_t i = row;;) {
    is_row_seen_[i] = true;
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < open_.size(); ++k) {
      const std::size_t j = open_[k];
      const double through = reach_ + cost(i, j) - row_dual_[i] - column_dual_[j];
      if (through < distance_[j]) {
        previous_[j] = static_cast<int>(i);
        distance_[j] = through;
      }
      // Of equal ones, a free column ends the path.
      if (distance_[j] < least || (distance_[j] == least && row_of_[j] < 0)) {
        least = distance_[j];
        nearest = k;
      }
    }
    reach_ = least;
    const std::size_t column = open_[nearest];
    is_column_seen_[column] = true;
    if (row_of_[column] < 0) return column;
    i = static_cast<std::size_t>(row_of_[column]);
    open_[nearest] = open_.back();
    open_.pop_back();
  }
}

}  // namespace saccade
