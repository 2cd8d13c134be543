#include "draw/skeleton.hpp"

#include <array>

namespace saccade {
namespace {

constexpr float kLeastConfidence = 0.25F;

// Sides from the person's view, in colours that the colour-blind can distinguish (M. Okabe, K. Ito: Color Universal
// Design, 2008).
constexpr Color kLeft = {86, 180, 233};
constexpr Color kRight = {255, 159, 28};
constexpr Color kMiddle = {240, 228, 66};

struct Limb {
  std::size_t from;
  std::size_t to;
  Color color;
};

constexpr std::size_t kJoints = 17;
// The "skeleton" of COCO's person category: nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles, left
// first.
constexpr std::array<Limb, 19> kLimbs = {{
    {15, 13, kLeft}, {13, 11, kLeft}, {16, 14, kRight}, {14, 12, kRight}, {11, 12, kMiddle},
    {5, 11, kLeft},  {6, 12, kRight}, {5, 6, kMiddle},  {5, 7, kLeft},    {6, 8, kRight},
    {7, 9, kLeft},   {8, 10, kRight}, {1, 2, kMiddle},  {0, 1, kLeft},    {0, 2, kRight},
    {1, 3, kLeft},   {2, 4, kRight},  {3, 5, kLeft},    {4, 6, kRight},
}};

// A face's landmarks (eyes, nose, corners of the mouth) and the first points of anything else.
constexpr std::array<Color, 5> kDots = {
    {{86, 180, 233}, {255, 159, 28}, {240, 228, 66}, {230, 90, 190}, {60, 220, 150}}};

Color joint_color(std::size_t joint) { return joint == 0 ? kMiddle : joint % 2 == 1 ? kLeft : kRight; }

bool is_seen(const Keypoint& point) { return point.confidence >= kLeastConfidence; }

void draw_limbs(const Sheet& sheet, std::span<const Keypoint> points, float width, Ink& ink) {
  const auto print_all = [&](float by, auto&& print) {
    for (const Limb& limb : kLimbs) {
      const Keypoint& from = points[limb.from];
      const Keypoint& to = points[limb.to];
      if (!is_seen(from) || !is_seen(to)) continue;
      ink.line(sheet.at(from.x, from.y), sheet.at(to.x, to.y), by);
      print(limb.color);
    }
  };
  print_all(width + 2, [](Color) {});
  ink.print(sheet.image, kRim, kRimOpacity);
  print_all(width, [&](Color color) { ink.print(sheet.image, color); });
}

void draw_dots(const Sheet& sheet, std::span<const Keypoint> points, float radius, Ink& ink) {
  const auto dot = [&](const Keypoint& point, float by) { ink.dot(sheet.at(point.x, point.y), by); };
  for (const Keypoint& point : points)
    if (is_seen(point)) dot(point, radius + 1);
  ink.print(sheet.image, kRim, 2 * kRimOpacity);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_seen(points[i])) continue;
    dot(points[i], radius);
    ink.print(sheet.image, points.size() == kJoints ? joint_color(i) : kDots[i % kDots.size()]);
  }
}

}  // namespace

void draw_keypoints(const Sheet& sheet, std::span<const Keypoint> points, const Rect& object, Ink& ink) {
  // Thinner on small objects.
  const float side = static_cast<float>(std::max(object.width(), object.height()));
  const auto most = 1.5F * static_cast<float>(sheet.line);
  if (points.size() == kJoints) {
    const float width = std::clamp(side / 60, 1.5F, most);
    draw_limbs(sheet, points, width, ink);
    draw_dots(sheet, points, width, ink);
  } else {
    draw_dots(sheet, points, std::clamp(side / 30, 1.0F, 1.5F * most), ink);
  }
}

}  // namespace saccade
