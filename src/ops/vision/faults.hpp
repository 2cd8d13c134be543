#pragma once

#include <cmath>
#include <span>

#include "saccade/results.hpp"

// What operators that make answers tell of the numbers that they read: an output int32 [1], the bits of Faults. They
// tell it out of the look that they take anyway. kernels/faults.cuh has the same.
namespace saccade {

/// Rounding takes a probability this far beyond 0..1, in half precision and in quantised models.
inline constexpr float kConfidenceSlack = 1e-3F;

/// What is wrong with SCORE as a probability.
inline Faults confidence_faults(float score) {
  Faults faults;
  if (std::isnan(score))
    faults.add(Fault::kNanConfidence);
  else if (!(score >= -kConfidenceSlack && score <= 1 + kConfidenceSlack))
    faults.add(Fault::kConfidenceRange);
  return faults;
}

/// What is wrong with BOX: corners x1, y1, x2, y2, or x, y, width, height, angle.
inline Faults box_faults(std::span<const float> box) {
  Faults faults;
  for (float number : box) {
    if (std::isnan(number)) faults.add(Fault::kNanBox);
    if (std::isinf(number)) faults.add(Fault::kInfiniteBox);
  }
  const bool turned = box.size() == 5;
  if (box[2] < (turned ? 0 : box[0]) || box[3] < (turned ? 0 : box[1])) faults.add(Fault::kNegativeSize);
  return faults;
}

/// Whether there is a box all the same.
inline bool is_finite(Faults box) { return !box.has(Fault::kNanBox) && !box.has(Fault::kInfiniteBox); }

/// FAULTS as an operator's output has them.
inline std::int32_t to_output(Faults faults) { return static_cast<std::int32_t>(faults.bits()); }

}  // namespace saccade
