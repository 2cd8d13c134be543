#include "vision/text_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>

#include "ops/vision/faults.hpp"

namespace saccade {
namespace {

constexpr float kLeastSide = 3;
constexpr float kLeastEnlargedSide = 5;
constexpr float kCornerSlack = 1e-3F;  // rounding of corners that are integers

/// The cells that a polygon covers on a row, both bounds inclusive; those of its drawn border, too.
struct CoveredCells {
  float low = std::numeric_limits<float>::infinity();
  float high = -std::numeric_limits<float>::infinity();

  /// Adds the cells on the row Y of the edge from A to B: one per row if it is steep, else one per column.
  void add(std::array<float, 2> a, std::array<float, 2> b, float y) {
    if (a[1] > b[1]) std::swap(a, b);
    const float down = b[1] - a[1];
    const bool is_flat = std::abs(b[0] - a[0]) > down;
    const float top = std::max(a[1], is_flat ? y - 0.5F : y);
    const float bottom = std::min(b[1], is_flat ? y + 0.5F : y);
    if (top > bottom) return;
    const auto at = [&](float row) { return down > 0 ? a[0] + (b[0] - a[0]) * (row - a[1]) / down : a[0]; };
    const float first = at(top);
    const float last = down > 0 ? at(bottom) : b[0];
    low = std::min(low, is_flat ? std::ceil(std::min(first, last)) : std::round(first));
    high = std::max(high, is_flat ? std::floor(std::max(first, last)) : std::round(first));
  }
};

/// The mean of the cells of MAP inside BOX, which is in the coordinates of cell centres. As PaddleOCR's fillPoly has
/// it, corners are truncated to cells, and the border belongs to the box.
float mean_inside(std::span<const float> map, int columns, const OrientedBox& box) {
  const int rows = static_cast<int>(map.size() / static_cast<std::size_t>(columns));
  std::array<float, 8> at = box.corners();
  for (float& number : at) number = std::floor(number + kCornerSlack);
  const int top = std::max(0, static_cast<int>(std::min({at[1], at[3], at[5], at[7]})));
  const int bottom = std::min(rows - 1, static_cast<int>(std::max({at[1], at[3], at[5], at[7]})));
  double sum = 0;
  int count = 0;
  for (int y = top; y <= bottom; ++y) {
    CoveredCells cells;
    for (std::size_t i = 0; i < 8; i += 2)
      cells.add({at[i], at[i + 1]}, {at[(i + 2) % 8], at[(i + 3) % 8]}, static_cast<float>(y));
    const int left = static_cast<int>(std::clamp(cells.low, 0.0F, static_cast<float>(columns)));
    const int right = static_cast<int>(std::clamp(cells.high, -1.0F, static_cast<float>(columns - 1)));
    const float* row = map.data() + std::ptrdiff_t{y} * columns;
    for (int x = left; x <= right; ++x) sum += row[x];
    count += std::max(0, right - left + 1);
  }
  return count == 0 ? 0 : static_cast<float>(sum / count);
}

}  // namespace

void TextBoxFinder::collect_runs(std::span<const float> map, int columns, float threshold) {
  runs_.clear();
  std::size_t above = 0;
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t y = 0; y < map.size() / width; ++y) {
    const std::size_t row = runs_.size();
    const std::span<const float> cells = map.subspan(y * width, width);
    for (std::size_t x = 0; x < width; ++x) {
      if (!(cells[x] >= -kConfidenceSlack && cells[x] <= 1 + kConfidenceSlack))
        faults_.add(confidence_faults(cells[x]));
      if (!(cells[x] > threshold)) continue;
      if (x == 0 || !(cells[x - 1] > threshold))
        runs_.push_back({static_cast<int>(y), static_cast<int>(x), 0, runs_.size()});
      runs_.back().x2 = static_cast<int>(x) + 1;
    }
    join_rows(above, row, runs_.size());
    above = row;
  }
}

/// Joins the runs from ROW on to those from ABOVE on, of the row before, that they touch.
void TextBoxFinder::join_rows(std::size_t above, std::size_t row, std::size_t end) {
  std::size_t first = above;
  for (std::size_t i = row; i < end; ++i) {
    while (first < row && (runs_[first].y + 1 < runs_[i].y || runs_[first].x2 < runs_[i].x1)) ++first;
    for (std::size_t k = first; k < row && runs_[k].x1 <= runs_[i].x2; ++k) {
      const std::size_t a = root_of(k);
      const std::size_t b = root_of(i);
      runs_[std::max(a, b)].component = std::min(a, b);
    }
  }
}

std::size_t TextBoxFinder::root_of(std::size_t run) {
  while (runs_[run].component != run) {
    runs_[run].component = runs_[runs_[run].component].component;
    run = runs_[run].component;
  }
  return run;
}

/// The convex hull of the cells' centres. The runs are ordered by y, then x, and so are their ends.
void TextBoxFinder::trace_hull(std::span<const Run> component) {
  hull_.clear();
  std::size_t kept = 0;
  const auto add = [&](const Point& point) {
    const auto turns = [&](const Point& a, const Point& b) {
      return std::int64_t{b.x - a.x} * (point.y - a.y) - std::int64_t{b.y - a.y} * (point.x - a.x) > 0;
    };
    while (hull_.size() >= kept + 2 && !turns(hull_[hull_.size() - 2], hull_.back())) hull_.pop_back();
    hull_.push_back(point);
  };
  for (const Run& run : component) {
    add({run.x1, run.y});
    if (run.x2 - 1 > run.x1) add({run.x2 - 1, run.y});
  }
  // The other side, backwards from the last point.
  kept = hull_.size() - 1;
  for (std::size_t i = component.size(); i-- > 0;) {
    const Run& run = component[i];
    if (run.x2 - 1 > run.x1 && !(i + 1 == component.size())) add({run.x2 - 1, run.y});
    if (run.x2 - 1 > run.x1 || i + 1 < component.size()) add({run.x1, run.y});
  }
  if (hull_.size() > 1) hull_.pop_back();  // the first point again
}

OrientedBox TextBoxFinder::least_rectangle() const {
  OrientedBox best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < hull_.size() && hull_.size() > 2; ++i) {
    const Point& from = hull_[i];
    const Point& to = hull_[(i + 1) % hull_.size()];
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const double across = (to.x - from.x) / length;
    const double down = (to.y - from.y) / length;
    std::array<double, 4> bounds = {INFINITY, INFINITY, -INFINITY, -INFINITY};
    for (const Point& point : hull_) {
      const double u = across * point.x + down * point.y;
      const double v = across * point.y - down * point.x;
      bounds = {std::min(bounds[0], u), std::min(bounds[1], v), std::max(bounds[2], u), std::max(bounds[3], v)};
    }
    const double width = bounds[2] - bounds[0];
    const double height = bounds[3] - bounds[1];
    if (width * height >= least) continue;
    least = width * height;
    const double u = (bounds[0] + bounds[2]) / 2;
    const double v = (bounds[1] + bounds[3]) / 2;
    best = {static_cast<float>(across * u - down * v), static_cast<float>(down * u + across * v),
            static_cast<float>(width), static_cast<float>(height), static_cast<float>(std::atan2(down, across))};
  }
  return best;
}

/// The box of the component whose hull was traced.
void TextBoxFinder::add_box(std::span<const float> map, int columns, const TextBoxOptions& options) {
  OrientedBox box = least_rectangle();
  if (std::min(box.width, box.height) < kLeastSide) return;
  const float confidence = mean_inside(map, columns, box);
  if (!(confidence >= options.confidence)) return;
  const float grown = box.width * box.height * options.unclip_ratio / (box.width + box.height);  // on both sides
  box.width += grown;
  box.height += grown;
  if (std::min(box.width, box.height) < kLeastEnlargedSide) return;
  box.x += 0.5F;
  box.y += 0.5F;
  boxes_.push_back({box, confidence});
}

std::span<const TextBox> TextBoxFinder::find(std::span<const float> map, int columns, const TextBoxOptions& options) {
  faults_ = {};
  boxes_.clear();
  collect_runs(map, columns, options.map_threshold);
  for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].component = root_of(i);
  const auto place = [](const Run& run) { return std::tuple(run.component, run.y, run.x1); };
  std::ranges::sort(runs_, {}, place);
  for (std::size_t i = 0, end = 0; i < runs_.size(); i = end) {
    while (end < runs_.size() && runs_[end].component == runs_[i].component) ++end;
    trace_hull(std::span(runs_).subspan(i, end - i));
    add_box(map, columns, options);
  }
  // A stable sort would allocate.
  std::ranges::sort(boxes_, {},
                    [](const TextBox& each) { return std::tuple(-each.confidence, each.box.y, each.box.x); });
  return boxes_;
}

OrientedBox along_text(OrientedBox box) {
  constexpr float kQuarter = std::numbers::pi_v<float> / 2;
  const auto turn = [&](float by) {
    box.angle += by;
    std::swap(box.width, box.height);
  };
  while (box.angle > kQuarter / 2) turn(-kQuarter);
  while (box.angle <= -kQuarter / 2) turn(kQuarter);
  if (box.height >= 1.5F * box.width) turn(kQuarter);
  return box;
}

}  // namespace saccade
