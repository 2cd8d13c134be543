#include "metrics/depth_metric.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr double kDelta = 1.25;

bool is_known(float truth) { return truth > 0 && std::isfinite(truth); }

/// y = scale * x + shift by least squares.
class Line {
 public:
  void add(double x, double y) {
    ++count_;
    x_ += x;
    y_ += y;
    xx_ += x * x;
    xy_ += x * y;
  }
  /// With a single value of x, a constant.
  void fit() {
    const double determinant = count_ * xx_ - x_ * x_;
    const bool is_level = !(determinant > 1e-12 * count_ * xx_);
    scale_ = is_level ? 0 : (count_ * xy_ - x_ * y_) / determinant;
    shift_ = count_ == 0 ? 0 : (y_ - scale_ * x_) / count_;
  }
  double at(double x) const { return scale_ * x + shift_; }

 private:
  double count_ = 0;
  double x_ = 0;
  double y_ = 0;
  double xx_ = 0;
  double xy_ = 0;
  double scale_ = 0;
  double shift_ = 0;
};

}  // namespace

void align_depth(DepthKind kind, std::span<const float> truth, std::span<float> found) {
  if (kind == DepthKind::kMetric) return;
  const bool is_inverse = kind == DepthKind::kInverse;
  Line line;
  float farthest = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!is_known(truth[i]) || !std::isfinite(found[i])) continue;
    line.add(found[i], is_inverse ? 1.0 / truth[i] : truth[i]);
    farthest = std::max(farthest, truth[i]);
  }
  line.fit();
  for (float& value : found) {
    if (!std::isfinite(value)) continue;
    const double aligned = line.at(value);
    value = static_cast<float>(is_inverse ? 1 / std::max(aligned, 1.0 / farthest) : aligned);
  }
}

DepthScores depth_scores(std::span<const float> truth, std::span<const float> found) {
  double relative = 0;
  double squares = 0;
  double near = 0;
  double known = 0;
  double frames = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!is_known(truth[i])) continue;
    ++known;
    if (!std::isfinite(found[i])) continue;
    ++frames;
    const double wanted = truth[i];
    const double depth = found[i];
    relative += std::abs(depth - wanted) / wanted;
    squares += (depth - wanted) * (depth - wanted);
    near += depth > 0 && std::max(depth / wanted, wanted / depth) < kDelta ? 1 : 0;
  }
  DepthScores scores;
  if (known > 0) scores.delta1 = near / known;
  if (frames > 0) {
    scores.abs_rel = relative / frames;
    scores.rmse = std::sqrt(squares / frames);
  }
  return scores;
}

DepthScores mean(std::span<const DepthScores> images, std::span<const int> times) {
  DepthScores means;
  for (double DepthScores::*figure : {&DepthScores::abs_rel, &DepthScores::rmse, &DepthScores::delta1}) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (images[i].*figure < 0) continue;
      const double weight = times.empty() ? 1 : times[i];
      sum += weight * images[i].*figure;
      count += weight;
    }
    if (count > 0) means.*figure = sum / count;
  }
  return means;
}

}  // namespace saccade
