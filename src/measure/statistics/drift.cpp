#include "measure/statistics/drift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "base/error.hpp"
#include "tensor/numbers.hpp"

namespace saccade {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeastChange = 1e-2;
// Of an element: with the limit for fp32, an error of 1e-7, as fp32 rounds a probability near 1.
constexpr double kLeastUnit = 1e-4;
constexpr std::int64_t kFewColumns = 1024;
constexpr double kKeptRows = 0.98;

std::vector<double> comparable(const Tensor& tensor) {
  if (auto numbers = numbers_of(tensor)) return *std::move(numbers);
  fail(ErrorCode::kUnsupported, "outputs of {} can't be compared", to_string(tensor.dtype()));
}

/// The three outputs as numbers, of equal shape.
struct Outputs {
  std::vector<double> x;
  std::vector<double> reference;
  std::vector<double> other;
  Shape shape;
};

/// Sets elements to zero where the reference is not finite; false if X is not finite where the reference is.
bool drop_infinite(Outputs& outputs) {
  for (std::size_t i = 0; i < outputs.x.size(); ++i) {
    if (std::isfinite(outputs.reference[i]) && !std::isfinite(outputs.x[i])) return false;
    if (std::isfinite(outputs.reference[i]) && std::isfinite(outputs.other[i])) continue;
    outputs.x[i] = outputs.reference[i] = outputs.other[i] = 0;
  }
  return true;
}

/// The drift of one channel, from sums of squares.
struct Channel {
  double error = 0;
  double change = 0;
  double size = 0;
  double count = 0;

  void add(double x, double reference, double other) {
    error += (x - reference) * (x - reference);
    change += (reference - other) * (reference - other);
    size += reference * reference;
    ++count;
  }
  double unit() const {
    return std::max({std::sqrt(change), kLeastChange * std::sqrt(size), kLeastUnit * std::sqrt(count)});
  }
  double drift() const { return std::sqrt(error) / unit(); }
};

/// AXIS < 0: a single channel.
double by_channel(const Outputs& outputs, int axis) {
  const std::int64_t count = axis < 0 ? 1 : outputs.shape[axis];
  std::int64_t inner = 1;
  for (int i = axis < 0 ? 0 : axis + 1; i < outputs.shape.rank(); ++i) inner *= outputs.shape[i];
  std::vector<Channel> channels(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < outputs.x.size(); ++i)
    channels[static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % count)].add(
        outputs.x[i], outputs.reference[i], outputs.other[i]);
  double largest = 0;
  for (const Channel& channel : channels) largest = std::max(largest, channel.drift());
  return largest;
}

double distance(const double* a, const double* b, std::size_t width) {
  double squares = 0;
  for (std::size_t i = 0; i < width; ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

/// For each row of X, the nearest row of the reference; the row at its own index if too many share one.
std::vector<std::size_t> partners(const Outputs& outputs, std::size_t rows, std::size_t width) {
  std::vector<std::size_t> nearest(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    double least = kInfinity;
    for (std::size_t j = 0; j < rows; ++j) {
      const double found = distance(&outputs.x[i * width], &outputs.reference[j * width], width);
      if (found >= least) continue;
      least = found;
      nearest[i] = j;
    }
  }
  const std::set<std::size_t> distinct(nearest.begin(), nearest.end());
  if (static_cast<double>(distinct.size()) < kKeptRows * static_cast<double>(rows))
    for (std::size_t i = 0; i < rows; ++i) nearest[i] = i;
  return nearest;
}

double as_queries(const Outputs& outputs) {
  const auto rows = static_cast<std::size_t>(outputs.shape[1]);
  const std::size_t width = outputs.x.size() / rows;
  const std::vector<std::size_t> partner = partners(outputs, rows, width);
  std::vector<double> errors;
  std::vector<double> changes;
  for (std::size_t i = 0; i < rows; ++i) {
    errors.push_back(distance(&outputs.x[i * width], &outputs.reference[partner[i] * width], width));
    Channel row;
    for (std::size_t k = i * width; k < (i + 1) * width; ++k) row.add(0, outputs.reference[k], outputs.other[k]);
    changes.push_back(row.unit());
  }
  std::ranges::sort(errors);
  std::ranges::sort(changes);
  const auto kept = std::max<std::size_t>(static_cast<std::size_t>(kKeptRows * static_cast<double>(rows)), 1);
  const double change = (changes[(rows - 1) / 2] + changes[rows / 2]) / 2;
  return errors[kept - 1] / change;
}

}  // namespace

double drift(const Tensor& x, const Tensor& reference, const Tensor& other) {
  if (x.shape() != reference.shape() || x.shape() != other.shape()) return kInfinity;
  Outputs outputs{comparable(x), comparable(reference), comparable(other), x.shape()};
  if (!drop_infinite(outputs)) return kInfinity;
  if (outputs.x.empty()) return 0;
  const Shape& shape = outputs.shape;
  double largest = by_channel(outputs, shape.rank() < 3 ? -1 : 1);
  if (shape.rank() == 3 && shape[2] <= kFewColumns) {
    // A long axis 1 holds rows, not channels.
    const double last = by_channel(outputs, 2);
    largest = shape[1] <= kFewColumns ? std::max(largest, last) : last;
  }
  const bool are_queries = shape.rank() >= 3 && shape[0] == 1 && (shape[1] == 100 || shape[1] == 300);
  return largest > kLargestDrift && are_queries ? std::min(largest, as_queries(outputs)) : largest;
}

}  // namespace saccade
