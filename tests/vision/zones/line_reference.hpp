#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

// What LineCrossing counts, by looking at a whole path, in integers.
namespace saccade::test {

/// A position of an object.
struct Step {
  std::int64_t time;  ///< milliseconds
  std::int64_t x;
  std::int64_t y;
};

/// A line between two points with integer coordinates.
struct Grid {
  std::int64_t from_x, from_y, to_x, to_y;

  std::int64_t dx() const { return to_x - from_x; }
  std::int64_t dy() const { return to_y - from_y; }
  std::int64_t side(const Step& p) const { return dx() * (p.y - from_y) - dy() * (p.x - from_x); }
  /// Position along the line, 0 to length().
  std::int64_t along(const Step& p) const { return dx() * (p.x - from_x) + dy() * (p.y - from_y); }
  std::int64_t length() const { return dx() * dx() + dy() * dy(); }
  /// Whether the way from P to Q has a point of the line.
  bool meets(const Step& p, const Step& q) const {
    const std::int64_t a = side(p);
    const std::int64_t b = side(q);
    const auto is_on = [&](const Step& at) { return side(at) == 0 && along(at) >= 0 && along(at) <= length(); };
    if (is_on(p) || is_on(q)) return true;
    if (a == 0 && b == 0) return std::min(along(p), along(q)) <= 0 && std::max(along(p), along(q)) >= length();
    if (a == 0 || b == 0 || (a < 0) == (b < 0)) return false;
    const std::int64_t weights = std::abs(a) + std::abs(b);
    const std::int64_t at = along(p) * std::abs(b) + along(q) * std::abs(a);
    return at >= 0 && at <= length() * weights;
  }
};

inline int sign(std::int64_t value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

/// The indices in PATH at which a crossing of GRID counts after HOLD milliseconds, with -1 for in and 1 for out.
inline std::vector<std::pair<std::size_t, int>> counted_crossings(const std::vector<Step>& path, const Grid& grid,
                                                                  std::int64_t hold) {
  std::vector<std::pair<std::size_t, int>> counted;
  std::size_t home = 0;  // the last index on the settled side
  while (home < path.size() && grid.side(path[home]) == 0) ++home;
  for (std::size_t i = home + 1; i < path.size(); ++i) {
    const int settled = sign(grid.side(path[home]));
    const int side = sign(grid.side(path[i]));
    if (side == settled) home = i;
    if (side != -settled) continue;
    // The stay without a break that I belongs to.
    std::size_t first = i;
    while (sign(grid.side(path[first - 1])) == side) --first;
    if (path[i].time - path[first].time < hold) continue;
    bool has_met = false;
    std::size_t k = home;
    do {
      has_met = has_met || grid.meets(path[k], path[k + 1]);
      ++k;
    } while (sign(grid.side(path[k])) != side);
    if (has_met) counted.emplace_back(i, side);
    home = i;
  }
  return counted;
}

}  // namespace saccade::test
