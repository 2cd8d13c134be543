#pragma once

#include <cmath>
#include <span>

#include "saccade/results.hpp"

// Operators that make predictions report invalid numbers in an output int32 [1], the bits of Faults, at no extra pass
// over the data. kernels/faults.cuh has the same definitions.
namespace saccade {

/// Tolerance for probabilities beyond 0..1, from rounding in half precision and quantized models.
inline constexpr float kConfidenceSlack = 1e-3F;

/// Faults of SCORE as a probability.
inline Faults confidence_faults(float score) {
  Faults faults;
  if (std::isnan(score))
    faults.add(Fault::kNanConfidence);
  else if (!(score >= -kConfidenceSlack && score <= 1 + kConfidenceSlack))
    faults.add(Fault::kConfidenceRange);
  return faults;
}

/// Faults of BOX: corners x1, y1, x2, y2, or x, y, width, height, angle.
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

/// Whether the box can be used nevertheless.
inline bool is_finite(Faults box) { return !box.has(Fault::kNanBox) && !box.has(Fault::kInfiniteBox); }

/// FAULTS as stored in an operator's output.
inline std::int32_t to_output(Faults faults) { return static_cast<std::int32_t>(faults.bits()); }

}  // namespace saccade
