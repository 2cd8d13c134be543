#include "saccade/masks.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "tensor/frame.hpp"
#include "vision/run_lengths.hpp"

namespace saccade {
namespace {

/// The parts of a mask whose pixels share an edge or a corner, as a forest of its runs.
class MaskParts {
 public:
  explicit MaskParts(std::span<const MaskRun> runs) : parents_(runs.size()) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    std::size_t above = 0;  // the first run of the row above that may touch
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto is_before = [&](const MaskRun& run) {
        return run.y < runs[i].y - 1 || (run.y == runs[i].y - 1 && run.x2 < runs[i].x1);
      };
      while (is_before(runs[above])) ++above;
      for (std::size_t j = above; runs[j].y == runs[i].y - 1 && runs[j].x1 <= runs[i].x2; ++j) join(j, i);
    }
  }

  /// The first run of the part with RUN.
  std::size_t first_of(std::size_t run) {
    while (parents_[run] != run) run = parents_[run] = parents_[parents_[run]];
    return run;
  }

 private:
  void join(std::size_t a, std::size_t b) {
    a = first_of(a);
    b = first_of(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::size_t> parents_;
};

/// Follows the borders of a mask between its pixels.
class RingTracer {
 public:
  explicit RingTracer(std::span<const MaskRun> runs) {
    left_ = runs.front().x1;
    top_ = runs.front().y;
    std::int32_t right = left_;
    for (const MaskRun& run : runs) {
      left_ = std::min(left_, run.x1);
      right = std::max(right, run.x2);
    }
    pitch_ = static_cast<std::ptrdiff_t>(right) - left_ + 2;
    pixels_.assign(static_cast<std::size_t>(pitch_ * (std::ptrdiff_t{runs.back().y} - top_ + 3)), kOutside);
    for (const MaskRun& run : runs) std::fill_n(pixels_.begin() + at(run.x1, run.y), run.x2 - run.x1, kInside);
  }

  /// Whether a ring that was not followed yet has the upper edge of the pixel (x, y).
  bool begins(std::int32_t x, std::int32_t y) const {
    return pixel(at(x, y)) == kInside && pixel(at(x, y) - pitch_) == kOutside;
  }

  /// The ring through the upper edge of the pixel (x, y), from its left end, with the inside to the right.
  Ring follow(std::int32_t x, std::int32_t y) {
    Ring ring{{x, y}};
    ContourPoint point{x, y};
    for (Direction direction = kRight;;) {
      if (direction == kRight) pixels_[static_cast<std::size_t>(at(point.x, point.y))] = kFollowed;
      point.x += kSteps[direction].x;
      point.y += kSteps[direction].y;
      const Direction next = turn(point, direction);
      if (next != direction) {
        if (point.x == x && point.y == y && next == kRight) return ring;
        ring.push_back(point);
      }
      direction = next;
    }
  }

 private:
  enum Direction : unsigned { kRight, kDown, kLeft, kUp };
  static constexpr ContourPoint kSteps[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  // The pixel ahead on the left of a corner reached in each direction, and the one ahead on the right.
  static constexpr ContourPoint kAheadLeft[] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
  static constexpr ContourPoint kAheadRight[] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}};
  static constexpr std::uint8_t kOutside = 0;
  static constexpr std::uint8_t kInside = 1;
  static constexpr std::uint8_t kFollowed = 2;  ///< inside, and its upper edge is of a ring

  std::ptrdiff_t at(std::int32_t x, std::int32_t y) const {
    return (std::ptrdiff_t{y} - top_ + 1) * pitch_ + (std::ptrdiff_t{x} - left_ + 1);
  }
  std::uint8_t pixel(std::ptrdiff_t index) const { return pixels_[static_cast<std::size_t>(index)]; }

  /// A turn to the left where only a corner joins two pixels keeps them in one ring.
  Direction turn(ContourPoint point, Direction direction) const {
    const auto is_inside = [&](ContourPoint step) { return pixel(at(point.x + step.x, point.y + step.y)) != kOutside; };
    if (is_inside(kAheadLeft[direction])) return static_cast<Direction>((direction + 3) % 4);
    return is_inside(kAheadRight[direction]) ? direction : static_cast<Direction>((direction + 1) % 4);
  }

  std::int32_t left_ = 0;  ///< of the bounding box, in the frame
  std::int32_t top_ = 0;
  std::ptrdiff_t pitch_ = 0;  ///< of pixels_: the bounding box plus an empty border
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

Image to_bitmap(const Mask& mask, int width, int height) {
  Image image(PixelFormat::kGray8, width, height);
  for (const MaskRun& run : mask.runs) {
    if (run.y < 0 || run.y >= height) continue;
    const std::int32_t first = std::clamp(run.x1, 0, width);
    const std::int32_t last = std::clamp(run.x2, 0, width);
    std::fill_n(image.samples().data() + static_cast<std::ptrdiff_t>(run.y) * width + first, last - first, 255);
  }
  return image;
}

std::string to_coco_counts(const Mask& mask, int width, int height) {
  check_size(width, height);
  RunLengths lengths;
  return std::string(lengths.encode_text(mask.runs, width, height));
}

std::vector<Polygon> to_polygons(const Mask& mask) {
  std::vector<Polygon> polygons;
  if (mask.runs.empty()) return polygons;
  MaskParts parts(mask.runs);
  RingTracer tracer(mask.runs);
  std::vector<std::size_t> polygon_of(mask.runs.size());  // by the first run of a part
  for (std::size_t i = 0; i < mask.runs.size(); ++i) {
    const MaskRun& run = mask.runs[i];
    const std::size_t first = parts.first_of(i);
    if (first == i) {
      polygon_of[i] = polygons.size();
      polygons.push_back({tracer.follow(run.x1, run.y), {}});
    }
    // The upper edges that are left are the lower borders of holes.
    for (std::int32_t x = run.x1; x < run.x2; ++x)
      if (tracer.begins(x, run.y)) polygons[polygon_of[first]].holes.push_back(tracer.follow(x, run.y));
  }
  return polygons;
}

}  // namespace saccade
