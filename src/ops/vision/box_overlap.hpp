#pragma once

#include <algorithm>
#include <cmath>

namespace saccade {

/// IoU of two boxes x1, y1, x2, y2; 0 for disjoint boxes, and if a number is NaN or an area overflows.
template <typename Float>
Float box_overlap(const Float* a, const Float* b) {
  const Float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const Float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  const Float common = width * height;
  const Float share = common / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common);
  return std::isnan(share) ? 0 : share;
}

/// Similarity of two oriented boxes x, y, width, height, angle (radians), 0 to 1 (0 if a number is NaN): one minus the
/// Hellinger distance of the normal distributions with their moments ("ProbIoU", Llerena et al., 2021, with
/// Ultralytics' constants).
inline float oriented_overlap(const float* a, const float* b) {
  constexpr float kTiny = 1e-7F;
  struct Covariance {
    float xx, yy, xy;
  };
  const auto covariance = [](const float* box) {
    const float along = box[2] * box[2] / 12;
    const float across = box[3] * box[3] / 12;
    const float cosine = std::cos(box[4]);
    const float sine = std::sin(box[4]);
    return Covariance{along * cosine * cosine + across * sine * sine, along * sine * sine + across * cosine * cosine,
                      (along - across) * cosine * sine};
  };
  const Covariance p = covariance(a);
  const Covariance q = covariance(b);
  const auto determinant = [](const Covariance& c) { return std::max(c.xx * c.yy - c.xy * c.xy, 0.0F); };
  const Covariance sum{p.xx + q.xx, p.yy + q.yy, p.xy + q.xy};
  const float whole = sum.xx * sum.yy - sum.xy * sum.xy;
  const float dx = a[0] - b[0];
  const float dy = a[1] - b[1];
  const float apart = (sum.xx * dy * dy + sum.yy * dx * dx) / (whole + kTiny) * 0.25F;
  const float turned = -sum.xy * dx * dy / (whole + kTiny) * 0.5F;
  const float unlike = std::log(whole / (4 * std::sqrt(determinant(p) * determinant(q)) + kTiny) + kTiny) * 0.5F;
  const float distance = std::clamp(apart + turned + unlike, kTiny, 100.0F);
  const float likeness = 1 - std::sqrt(1 - std::exp(-distance) + kTiny);
  return std::isnan(likeness) ? 0 : likeness;
}

}  // namespace saccade
