#include "vision/object_crop.hpp"

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

struct CropRange {
  int begin = 0;
  int end = 0;
};

/// The pixels of LENGTH that LOW..HIGH touches with MARGIN; empty for NaN.
CropRange crop_range(float low, float high, float margin, int length, bool is_even) {
  // In float, a tenth of 20 is 2.
  const float more = margin * (high - low);
  const float first = std::floor(low - more);
  const float last = std::ceil(high + more);
  if (!(last > first)) return {};
  CropRange range{static_cast<int>(std::clamp<double>(first, 0, length)),
                  static_cast<int>(std::clamp<double>(last, 0, length))};
  if (is_even && range.end > range.begin) range.begin -= range.begin % 2;
  return range;
}

}  // namespace

std::optional<Region> object_region(const Detection& object, float margin, const FrameView& frame) {
  const bool is_even = shares_chroma(frame.format);
  const auto& [x1, y1, x2, y2] = object.box;
  const CropRange across = crop_range(x1, x2, margin, frame.width, is_even);
  const CropRange down = crop_range(y1, y2, margin, frame.height, is_even);
  if (across.end <= across.begin || down.end <= down.begin) return std::nullopt;
  return Region{across.begin, down.begin, across.end - across.begin, down.end - down.begin};
}

}  // namespace saccade
