#include "metrics/precision_recall.hpp"

#include <algorithm>
#include <functional>
#include <limits>

namespace saccade {
namespace {

constexpr int kRecalls = 101;

/// numpy.linspace(0, 1, 101), bit-identical: the recall thresholds of COCO.
double recall_threshold(int i) { return i == 100 ? 1.0 : i * (1.0 / 100); }

/// A curve at a point where its recall increases; in between, precision only decreases.
struct CurvePoint {
  double right;
  double precision;
};

/// Counts predictions in descending order of score.
class CurveBuilder {
 public:
  void add(bool is_right, double times) {
    (is_right ? right_ : wrong_) += times;
    if (is_right) points_.push_back({right_, right_ / (wrong_ + right_ + std::numeric_limits<double>::epsilon())});
  }

  RankedPredictions::Curve finish(double wanted) {
    for (std::size_t i = points_.size(); i-- > 1;)
      points_[i - 1].precision = std::max(points_[i - 1].precision, points_[i].precision);
    RankedPredictions::Curve curve{0, right_ / wanted};
    auto at = points_.begin();
    for (int r = 0; r < kRecalls; ++r) {
      while (at != points_.end() && at->right / wanted < recall_threshold(r)) ++at;
      if (at == points_.end()) break;
      curve.precision += at->precision;
    }
    curve.precision /= kRecalls;
    return curve;
  }

 private:
  std::vector<CurvePoint> points_;
  double right_ = 0;
  double wrong_ = 0;
};

int times_of(std::span<const int> times, int image) {
  return times.empty() ? 1 : times[static_cast<std::size_t>(image)];
}

}  // namespace

RankedPredictions::RankedPredictions(std::vector<MatchedPrediction> predictions, std::vector<WantedObjects> wanted)
    : predictions_(std::move(predictions)), wanted_(std::move(wanted)) {
  std::ranges::stable_sort(predictions_, std::greater<>(), &MatchedPrediction::score);
}

int RankedPredictions::objects() const {
  int count = 0;
  for (const WantedObjects& each : wanted_) count += each.count[0];
  return count;
}

RankedPredictions::Curves RankedPredictions::curves(std::size_t area, int most, std::span<const int> times) const {
  double wanted = 0;
  for (const WantedObjects& each : wanted_)
    wanted += static_cast<double>(each.count[area]) * times_of(times, each.image);
  Curves curves;
  if (wanted == 0) return curves;
  std::array<CurveBuilder, kOverlaps> builders;
  for (const MatchedPrediction& prediction : predictions_) {
    const int count = times_of(times, prediction.image);
    if (count == 0 || prediction.rank >= most) continue;
    for (std::size_t t = 0; t < kOverlaps; ++t)
      if (((prediction.ignored[area] >> t) & 1U) == 0)
        builders[t].add(((prediction.right[area] >> t) & 1U) != 0, count);
  }
  for (std::size_t t = 0; t < kOverlaps; ++t) curves[t] = builders[t].finish(wanted);
  return curves;
}

double mean(std::span<const RankedPredictions::Curves> classes, double RankedPredictions::Curve::*figure,
            std::size_t first, std::size_t last) {
  double sum = 0;
  int count = 0;
  for (const RankedPredictions::Curves& curves : classes) {
    for (std::size_t t = first; t <= last; ++t) {
      if (curves[t].*figure < 0) continue;
      sum += curves[t].*figure;
      ++count;
    }
  }
  return count == 0 ? -1 : sum / count;
}

}  // namespace saccade
