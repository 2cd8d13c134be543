#include "metrics/similarity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace saccade {
namespace {

// Nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles: left before right.
constexpr std::array kPersonSigmas = {0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072,
                                      0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089};

/// Pixels in the intersection of both masks.
std::int64_t common_pixels(std::span<const MaskRun> a, std::span<const MaskRun> b) {
  std::int64_t common = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i].y != b[j].y) {
      ++(a[i].y < b[j].y ? i : j);
      continue;
    }
    common += std::max(0, std::min(a[i].x2, b[j].x2) - std::max(a[i].x1, b[j].x1));
    ++(a[i].x2 < b[j].x2 ? i : j);
  }
  return common;
}

/// The distance of VALUE to the interval LOW..HIGH.
double outside(double value, double low, double high) {
  return std::max(0.0, low - value) + std::max(0.0, value - high);
}

}  // namespace

std::string_view to_string(Similarity by) {
  constexpr std::array<std::string_view, 3> kNames = {"box", "mask", "keypoints"};
  return kNames[static_cast<std::size_t>(by)];
}

double overlap(const CocoBox& a, const CocoBox& b, bool crowd) {
  const double width = std::fmin(a.x + a.width, b.x + b.width) - std::fmax(a.x, b.x);
  if (width <= 0) return 0;
  const double height = std::fmin(a.y + a.height, b.y + b.height) - std::fmax(a.y, b.y);
  if (height <= 0) return 0;
  const double common = width * height;
  const double own = a.width * a.height;
  return common / (crowd ? own : own + b.width * b.height - common);
}

std::int64_t area_of(std::span<const MaskRun> mask) {
  std::int64_t area = 0;
  for (const MaskRun& run : mask) area += run.x2 - run.x1;
  return area;
}

double overlap(std::span<const MaskRun> a, std::span<const MaskRun> b, bool crowd) {
  const std::int64_t common = common_pixels(a, b);
  if (common == 0) return 0;
  const std::int64_t own = area_of(a);
  return static_cast<double>(common) / static_cast<double>(crowd ? own : own + area_of(b) - common);
}

std::vector<double> keypoint_sigmas(std::size_t count) {
  if (count == kPersonSigmas.size()) return {kPersonSigmas.begin(), kPersonSigmas.end()};
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

double keypoint_similarity(std::span<const CocoPoint> found, const TrueObject& truth, std::span<const double> sigmas) {
  const CocoBox& box = truth.box;
  const bool any = std::ranges::any_of(truth.keypoints, &CocoPoint::counts);
  double sum = 0;
  int joints = 0;
  for (std::size_t i = 0; i < sigmas.size(); ++i) {
    const CocoPoint& joint = truth.keypoints[i];
    if (any && !joint.counts) continue;
    const double x = any ? found[i].x - joint.x : outside(found[i].x, box.x - box.width, box.x + box.width * 2);
    const double y = any ? found[i].y - joint.y : outside(found[i].y, box.y - box.height, box.y + box.height * 2);
    const double variance = (sigmas[i] * 2) * (sigmas[i] * 2);
    sum += std::exp(-((x * x + y * y) / variance / (truth.area + std::numeric_limits<double>::epsilon()) / 2));
    ++joints;
  }
  return joints == 0 ? 0 : sum / joints;
}

}  // namespace saccade
