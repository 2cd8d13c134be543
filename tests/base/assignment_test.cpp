#include "base/assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace saccade {
namespace {

struct Weights {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

/// The largest sum, by trying all.
double best_of_all(const Weights& weights) {
  const bool is_wide = weights.columns >= weights.rows;
  std::vector<std::size_t> order(is_wide ? weights.columns : weights.rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double best = -1e300;
  do {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(weights.rows, weights.columns); ++i)
      sum += is_wide ? weights.at(i, order[i]) : weights.at(order[i], i);
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// The sum of an assignment, which must be one to one and pair as many as possible.
double sum_of(const Assignment& assignment, const Weights& weights) {
  std::vector<bool> is_taken(weights.columns);
  std::size_t pairs = 0;
  double sum = 0;
  for (std::size_t i = 0; i < weights.rows; ++i) {
    const int column = assignment.column_of(i);
    if (column < 0) continue;
    const auto j = static_cast<std::size_t>(column);
    if (j >= weights.columns) return std::nan("");
    EXPECT_FALSE(is_taken[j]);
    is_taken[j] = true;
    sum += weights.at(i, j);
    ++pairs;
  }
  EXPECT_EQ(pairs, std::min(weights.rows, weights.columns));
  return sum;
}

TEST(Assignment, IsTheBestOfAll) {
  std::mt19937 random(1);
  Assignment assignment;
  for (int round = 0; round < 500; ++round) {
    Weights weights{.rows = random() % 7, .columns = random() % 7, .values = {}};
    for (std::size_t i = 0; i < weights.rows * weights.columns; ++i)
      // Small integers have ties, and many are 0, as overlaps are.
      weights.values.push_back(round % 2 == 0 ? static_cast<double>(random() % 3) : std::ldexp(random(), -32) - 0.3);
    assignment.solve(weights.values, weights.rows, weights.columns);
    EXPECT_NEAR(sum_of(assignment, weights), weights.values.empty() ? 0 : best_of_all(weights), 1e-12) << round;
  }
}

TEST(Assignment, OfNothingIsEmpty) {
  Assignment assignment;
  assignment.solve({}, 3, 0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(assignment.column_of(i), -1);
  assignment.solve({}, 0, 3);
}

TEST(Assignment, CountsWhatIsNotFiniteAsNothing) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> weights = {nan, 0.5, infinity, 0.4, nan, -infinity};
  Assignment assignment;
  assignment.solve(weights, 2, 3);
  EXPECT_EQ(assignment.column_of(0), 1);
  EXPECT_EQ(assignment.column_of(1), 0);
}

/// The largest ones alone would leave the last row with the worst.
TEST(Assignment, GivesUpALargeWeightForALargerSum) {
  const std::vector<double> weights = {0.9, 0.8, 0.8, 0.0};
  Assignment assignment;
  assignment.solve(weights, 2, 2);
  EXPECT_EQ(assignment.column_of(0), 1);
  EXPECT_EQ(assignment.column_of(1), 0);
}

}  // namespace
}  // namespace saccade
