#include "ops/vision/mask_place.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace saccade {
namespace {

/// Pixels of an axis whose centres lie between two edges in the tensor: SCALE tensor pixels per pixel, from ORIGIN on.
struct PixelSpan {
  int begin = 0;
  int end = 0;
};
PixelSpan seen_pixels(int origin, int extent, std::int64_t at, std::int64_t scaled, int size) {
  const double scale = static_cast<double>(scaled) / extent;
  const auto pixel = [&](double edge) {
    const double centre = (edge - static_cast<double>(at)) / scale - 0.5;
    return origin + static_cast<int>(std::clamp(std::ceil(centre), 0.0, static_cast<double>(extent)));
  };
  return {pixel(0), pixel(size)};
}

/// The first pixel at or behind an edge, clamped to the limits.
int first_pixel(float edge, int low, int high) {
  const float at = std::ceil(edge);
  if (!(at > static_cast<float>(low))) return low;
  return at < static_cast<float>(high) ? static_cast<int>(at) : high;
}

/// Pixels from one edge (inclusive) to the other (exclusive); none if an edge is NaN.
PixelExtent pixels_of(const std::array<float, 4>& box, const Region& seen) {
  if (std::ranges::any_of(box, [](float edge) { return std::isnan(edge); })) return {};
  const int right = seen.x + seen.width;
  const int bottom = seen.y + seen.height;
  return {first_pixel(box[0], seen.x, right), first_pixel(box[1], seen.y, bottom), first_pixel(box[2], seen.x, right),
          first_pixel(box[3], seen.y, bottom)};
}

/// A grid like WHOLE that covers a box of the frame.
GridPlace place_on(const std::array<float, 4>& box, const GridPlace& whole) {
  const double width = std::max<double>(box[2] - box[0], 1e-6);
  const double height = std::max<double>(box[3] - box[1], 1e-6);
  const double across = whole.columns / width;
  const double down = whole.rows / height;
  return {whole.columns, whole.rows, across, down, -box[0] * across, -box[1] * down, whole.seen};
}

}  // namespace

GridPlace grid_place(const PreprocessSpec& spec, const Placement& placement, std::int64_t columns, std::int64_t rows) {
  const Region& source = placement.source;
  const double cells_across = static_cast<double>(columns) / spec.width;
  const double cells_down = static_cast<double>(rows) / spec.height;
  GridPlace place{.columns = static_cast<int>(columns), .rows = static_cast<int>(rows)};
  place.scale_x = static_cast<double>(placement.width * columns) / (static_cast<double>(source.width) * spec.width);
  place.scale_y = static_cast<double>(placement.height * rows) / (static_cast<double>(source.height) * spec.height);
  place.offset_x = static_cast<double>(placement.x) * cells_across - source.x * place.scale_x;
  place.offset_y = static_cast<double>(placement.y) * cells_down - source.y * place.scale_y;
  const PixelSpan across = seen_pixels(source.x, source.width, placement.x, placement.width, spec.width);
  const PixelSpan down = seen_pixels(source.y, source.height, placement.y, placement.height, spec.height);
  place.seen = {across.begin, down.begin, across.end - across.begin, down.end - down.begin};
  return place;
}

MaskWithin mask_within(const Attributes& attributes) {
  const std::string* name = attributes.find<std::string>("within");
  const auto found = name == nullptr ? kMaskWithinNames.end() : std::ranges::find(kMaskWithinNames, *name);
  if (found == kMaskWithinNames.end())
    fail(ErrorCode::kInvalidFile, "within must be 'image', 'boxes' or 'regions'{}",
         name == nullptr ? "" : ", not '" + *name + "'");
  return static_cast<MaskWithin>(found - kMaskWithinNames.begin());
}

MaskLook mask_look(MaskWithin within, const GridPlace& whole, const std::array<float, 4>& box) {
  const Region& seen = whole.seen;
  if (within == MaskWithin::kImage) return {whole, {seen.x, seen.y, seen.x + seen.width, seen.y + seen.height}, 0};
  if (within == MaskWithin::kBoxes) return {whole, pixels_of(box, seen), 0};
  return {place_on(box, whole), pixels_of(box, seen), 0.5F};
}

}  // namespace saccade
