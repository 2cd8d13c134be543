#include "draw/silhouettes.hpp"

namespace saccade {
namespace {

constexpr int kOpacity = 100;

/// The image pixel at which source pixel AT begins.
int begin_of(std::int32_t at, float scale) { return static_cast<int>(static_cast<float>(at) * scale); }

/// A closed polyline through COUNT points; PLACE returns the point at an index.
template <typename Place>
void outline_ink(Ink& ink, std::size_t count, float width, const Place& place) {
  for (std::size_t i = 0; i < count; ++i) ink.line(place(i), place((i + 1) % count), width);
}

template <typename Place>
void draw_rimmed(const Sheet& sheet, Ink& ink, std::size_t count, Color color, const Place& place) {
  const auto width = static_cast<float>(sheet.line);
  outline_ink(ink, count, width + 2, place);
  ink.print(sheet.image, kRim, kRimOpacity);
  outline_ink(ink, count, width, place);
  ink.print(sheet.image, color);
}

}  // namespace

void draw_silhouette(const Sheet& sheet, const Mask& mask, Color color) {
  for (const MaskRun& run : mask.runs)
    fill(sheet.image,
         {begin_of(run.x1, sheet.scale_x), begin_of(run.y, sheet.scale_y), begin_of(run.x2, sheet.scale_x),
          begin_of(run.y + 1, sheet.scale_y)},
         color, kOpacity);
}

void draw_border(const Sheet& sheet, const Mask& mask, Color color, ContourTracer& tracer, Ink& ink) {
  for (const ContourTracer::Contour contour : tracer.trace(mask))
    draw_rimmed(sheet, ink, contour.size(), color, [&](std::size_t i) {
      return sheet.at(static_cast<float>(contour[i].x) + 0.5F, static_cast<float>(contour[i].y) + 0.5F);
    });
}

void draw_oriented(const Sheet& sheet, const OrientedBox& box, Color color, Ink& ink) {
  const auto corners = box.corners();
  draw_rimmed(sheet, ink, corners.size() / 2, color,
              [&](std::size_t i) { return sheet.at(corners[2 * i], corners[2 * i + 1]); });
}

}  // namespace saccade
