#include "saccade/contours.hpp"

#include <algorithm>
#include <array>

namespace saccade {
namespace {

// S. Suzuki, K. Abe: Topological structural analysis of digitized binary images by border following, 1985; restricted
// to outermost borders.

// States of a pixel. A border pixel whose right neighbour is outside ends the surrounded part of its row.
constexpr std::int8_t kOutside = 0;
constexpr std::int8_t kInside = 1;
constexpr std::int8_t kBorder = 2;
constexpr std::int8_t kRightBorder = -2;

constexpr unsigned kDirections = 8;  // from "right", counter-clockwise
constexpr unsigned kLeft = 4;

std::array<std::ptrdiff_t, kDirections> steps(std::ptrdiff_t pitch) {
  return {1, 1 - pitch, -pitch, -1 - pitch, -1, pitch - 1, pitch, pitch + 1};
}

unsigned opposite(unsigned direction) { return (direction + kDirections / 2) % kDirections; }

}  // namespace

void ContourTracer::paint(const Mask& mask) {
  left_ = mask.runs.front().x1;
  top_ = mask.runs.front().y;
  std::int32_t right = left_;
  std::int32_t bottom = top_;
  for (const MaskRun& run : mask.runs) {
    left_ = std::min(left_, run.x1);
    right = std::max(right, run.x2);
    bottom = std::max(bottom, run.y + 1);
  }
  pitch_ = right - left_ + 2;
  rows_ = bottom - top_ + 2;
  pixels_.assign(static_cast<std::size_t>(pitch_ * rows_), kOutside);
  for (const MaskRun& run : mask.runs)
    std::fill_n(pixels_.data() + (run.y - top_ + 1) * pitch_ + (run.x1 - left_ + 1), run.x2 - run.x1, kInside);
}

void ContourTracer::keep(std::ptrdiff_t pixel) {
  points_.push_back(
      {static_cast<std::int32_t>(pixel % pitch_ - 1 + left_), static_cast<std::int32_t>(pixel / pitch_ - 1 + top_)});
}

/// Follows the border from START, whose left neighbour is outside.
void ContourTracer::follow(std::ptrdiff_t start) {
  const auto step = steps(pitch_);
  std::int8_t* pixels = pixels_.data();
  // The last pixel of the border: the first one inside, clockwise from the left neighbour.
  unsigned direction = kLeft;
  do direction = (direction + kDirections - 1) % kDirections;
  while (direction != kLeft && pixels[start + step[direction]] == kOutside);
  if (direction == kLeft) {
    pixels[start] = kRightBorder;
    return keep(start);
  }
  const std::ptrdiff_t last = start + step[direction];
  unsigned came = opposite(direction);  // direction of the last step
  for (std::ptrdiff_t at = start;;) {
    const unsigned from = direction;  // direction of the previous pixel
    bool right_is_outside = false;
    do {
      direction = (direction + 1) % kDirections;
      if (pixels[at + step[direction]] != kOutside) break;
      right_is_outside |= direction == 0;
    } while (direction != from);
    if (right_is_outside)
      pixels[at] = kRightBorder;
    else if (pixels[at] == kInside)
      pixels[at] = kBorder;
    if (direction != came) keep(at);
    came = direction;
    const std::ptrdiff_t next = at + step[direction];
    if (next == start && at == last) return;
    at = next;
    direction = opposite(direction);
  }
}

std::span<const ContourTracer::Contour> ContourTracer::trace(const Mask& mask) {
  points_.clear();
  ends_.clear();
  contours_.clear();
  if (mask.runs.empty()) return {};
  paint(mask);
  for (std::ptrdiff_t row = 1; row + 1 < rows_; ++row) {
    bool is_surrounded = false;  // by the last border that the row crossed
    for (std::ptrdiff_t at = row * pitch_ + 1; at < (row + 1) * pitch_; ++at) {
      std::int8_t& pixel = pixels_[static_cast<std::size_t>(at)];
      const bool begins = pixel == kInside && pixels_[static_cast<std::size_t>(at - 1)] == kOutside;
      if (begins && !is_surrounded) {
        follow(at);
        ends_.push_back(points_.size());
      }
      if (pixel == kBorder || pixel == kRightBorder) is_surrounded = pixel == kBorder;
    }
  }
  std::size_t first = 0;
  for (std::size_t end : ends_) {
    contours_.emplace_back(points_.data() + first, end - first);
    first = end;
  }
  return contours_;
}

}  // namespace saccade
