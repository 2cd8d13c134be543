#include "vision/polygon.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "base/error.hpp"

// Masks from polygons are defined by pycocotools: corners are rounded to a fifth of a pixel, each edge becomes a chain
// of points a fifth of a pixel apart, and a run begins or ends where the chain crosses the middle of a pixel column.
// The arithmetic, including rounding, follows rleFrPoly() of maskApi.c, because half a pixel may decide whether a
// prediction matches.
namespace saccade {
namespace {

constexpr double kFiner = 5;
constexpr double kFarthest = 1 << 20;

struct Point {
  int x;
  int y;
};

/// Rounds like maskApi.c: adds 0.5 and truncates, for negative numbers too.
int rounded(double value) {
  return static_cast<int>(value + 0.5);  // NOLINT(bugprone-incorrect-roundings): identical to pycocotools
}

std::vector<Point> fine_corners(std::span<const double> corners) {
  std::vector<Point> points;
  for (std::size_t i = 0; i + 1 < corners.size(); i += 2) {
    for (const double value : {corners[i], corners[i + 1]})
      if (!(std::abs(value) <= kFarthest)) fail(ErrorCode::kInvalidFile, "a polygon's vertex at {} is invalid", value);
    points.push_back({rounded(kFiner * corners[i]), rounded(kFiner * corners[i + 1])});
  }
  return points;
}

/// Traverses the chain of points and keeps the positions, column by column, where it crosses the middle of a column.
class Outline {
 public:
  Outline(int width, int height) : width_(width), height_(height) {}

  /// The points from FROM to TO inclusive, one per step along the longer axis.
  void add_edge(Point from, Point to) {
    const int dx = std::abs(to.x - from.x);
    const int dy = std::abs(to.y - from.y);
    const bool is_flat = dx >= dy;
    const bool is_backward = is_flat ? from.x > to.x : from.y > to.y;
    if (is_backward) std::swap(from, to);
    const int steps = std::max(dx, dy);
    const double slope = steps == 0 ? 0 : static_cast<double>(is_flat ? to.y - from.y : to.x - from.x) / steps;
    for (int d = 0; d <= steps; ++d) {
      const int t = is_backward ? steps - d : d;
      if (is_flat)
        add({t + from.x, rounded(from.y + slope * t)});
      else
        add({rounded(from.x + slope * t), t + from.y});
    }
  }

  /// Sorted, followed by the end of the image.
  std::vector<std::int64_t> finish() {
    places_.push_back(static_cast<std::int64_t>(width_) * height_);
    std::ranges::sort(places_);
    return std::move(places_);
  }

 private:
  void add(Point to) {
    if (any_ && to.x != last_.x) cross(last_, to);
    last_ = to;
    any_ = true;
  }

  void cross(Point a, Point b) {
    const double x = ((b.x < a.x ? b.x : b.x - 1) + 0.5) / kFiner - 0.5;
    if (std::floor(x) != x || x < 0 || x > width_ - 1) return;
    const double middle = (std::min(a.y, b.y) + 0.5) / kFiner - 0.5;
    const double y = std::ceil(std::clamp(middle, 0.0, static_cast<double>(height_)));
    places_.push_back(static_cast<std::int64_t>(x) * height_ + static_cast<std::int64_t>(y));
  }

  int width_;
  int height_;
  Point last_{};
  bool any_ = false;
  std::vector<std::int64_t> places_;
};

}  // namespace

std::vector<std::int64_t> polygon_counts(std::span<const double> corners, int width, int height) {
  if (corners.size() < 6 || corners.size() % 2 != 0)
    fail(ErrorCode::kInvalidFile, "{} numbers are not a polygon: it needs x and y of three vertices or more",
         corners.size());
  const std::vector<Point> points = fine_corners(corners);
  Outline outline(width, height);
  for (std::size_t i = 0; i < points.size(); ++i) outline.add_edge(points[i], points[(i + 1) % points.size()]);
  const std::vector<std::int64_t> places = outline.finish();

  std::vector<std::int64_t> counts;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t count = places[i] - last;
    last = places[i];
    if (count > 0 || counts.empty()) {
      counts.push_back(count);
    } else if (++i < places.size()) {  // an empty run: the previous one continues
      counts.back() += places[i] - last;
      last = places[i];
    }
  }
  return counts;
}

std::vector<MaskRun> united(std::span<const MaskRun> a, std::span<const MaskRun> b) {
  std::vector<MaskRun> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all, {}, [](const MaskRun& run) { return std::tuple(run.y, run.x1); });
  std::vector<MaskRun> runs;
  for (const MaskRun& run : all) {
    if (!runs.empty() && runs.back().y == run.y && runs.back().x2 >= run.x1)
      runs.back().x2 = std::max(runs.back().x2, run.x2);
    else
      runs.push_back(run);
  }
  return runs;
}

}  // namespace saccade
