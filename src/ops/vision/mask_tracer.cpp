#include "ops/vision/mask_tracer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace saccade {
namespace {

/// Appends the runs of ones in INSIDE, which is row Y from X on; returns the number of ones.
std::int64_t add_runs(std::span<const std::uint8_t> inside, int x, int y, std::vector<MaskRun>& runs) {
  std::int64_t area = 0;
  const std::uint8_t* const end = inside.data() + inside.size();
  const auto find = [&](const std::uint8_t* from, int value) {
    const void* found = std::memchr(from, value, static_cast<std::size_t>(end - from));
    return found == nullptr ? end : static_cast<const std::uint8_t*>(found);
  };
  for (const std::uint8_t* at = find(inside.data(), 1); at != end;) {
    const std::uint8_t* stop = find(at, 0);
    runs.push_back({y, x + static_cast<int>(at - inside.data()), x + static_cast<int>(stop - inside.data())});
    area += stop - at;
    at = find(stop, 1);
  }
  return area;
}

GridTap tap(double position, int cells) {
  const double low = std::floor(position);
  if (!(low >= 0)) return {0, 0, 0};
  if (low >= cells - 1) return {cells - 1, cells - 1, 0};
  const int first = static_cast<int>(low);
  return {first, first + 1, static_cast<float>(position - low)};
}

}  // namespace

GridTap tap_across(const GridPlace& place, int x) {
  return tap((x + 0.5) * place.scale_x + place.offset_x - 0.5, place.columns);
}

GridTap tap_down(const GridPlace& place, int y) {
  return tap((y + 0.5) * place.scale_y + place.offset_y - 0.5, place.rows);
}

std::span<const float> MaskTracer::row(std::span<const float> grid, int columns, int index) {
  const auto slot = static_cast<std::size_t>(index % 2);
  if (held_[slot] != index) {
    const float* from = grid.data() + static_cast<std::ptrdiff_t>(index) * columns;
    bool sound = true;
    for (std::size_t i = 0; i < across_.size(); ++i) {
      const GridTap& at = across_[i];
      rows_[slot][i] = from[at.first] * (1 - at.share) + from[at.second] * at.share;
      sound &= from[at.first] < INFINITY && from[at.second] < INFINITY;
    }
    has_fault_ |= !sound;
    held_[slot] = index;
  }
  return rows_[slot];
}

std::int64_t MaskTracer::trace(const GridPlace& place, std::span<const float> grid, const PixelExtent& within,
                               float threshold, std::vector<MaskRun>& runs) {
  has_fault_ = false;
  if (within.empty() || place.columns < 1 || place.rows < 1) return 0;
  const auto width = static_cast<std::size_t>(within.x2 - within.x1);
  // Capacity for the widest possible extent, so that later frames do not allocate.
  const auto most = static_cast<std::size_t>(std::max(place.seen.width, within.x2 - within.x1));
  across_.reserve(most);
  inside_.reserve(most);
  for (auto& held : rows_) held.reserve(most);
  across_.resize(width);
  inside_.resize(width);
  for (auto& held : rows_) held.resize(width);
  held_[0] = held_[1] = -1;
  for (std::size_t i = 0; i < width; ++i) across_[i] = tap_across(place, within.x1 + static_cast<int>(i));
  std::int64_t area = 0;
  for (int y = within.y1; y < within.y2; ++y) {
    const GridTap down = tap_down(place, y);
    const float* upper = row(grid, place.columns, down.first).data();
    const float* lower = row(grid, place.columns, down.second).data();
    for (std::size_t i = 0; i < width; ++i)
      inside_[i] = upper[i] * (1 - down.share) + lower[i] * down.share > threshold ? 1 : 0;
    area += add_runs(inside_, within.x1, y, runs);
  }
  return area;
}

}  // namespace saccade
