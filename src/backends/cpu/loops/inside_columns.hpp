#pragma once

#include <cstdint>

#include "ops/layers/window.hpp"

namespace saccade::cpu {

/// The output columns [first, last) whose taps are all inside the input.
struct InsideColumns {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool contain(std::int64_t x) const { return x >= first && x < last; }
  std::int64_t count() const { return last - first; }
};

/// TAPS: of the window's last axis.
inline InsideColumns inside_columns(const Window& window, const Taps& taps) {
  const auto is_inside = [&](std::int64_t x) {
    for (std::int64_t c = 0; c < window.kernel[2]; ++c)
      if (taps.of(c)[x] < 0) return false;
    return true;
  };
  InsideColumns inside;
  while (inside.first < window.out[2] && !is_inside(inside.first)) ++inside.first;
  inside.last = inside.first;
  while (inside.last < window.out[2] && is_inside(inside.last)) ++inside.last;
  return inside;
}

}  // namespace saccade::cpu
