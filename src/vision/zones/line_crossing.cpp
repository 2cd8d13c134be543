#include "vision/zones/line_crossing.hpp"

#include <utility>

namespace saccade {

std::optional<LineCrossing::Crossed> LineCrossing::move(const LineSegment& line, ZonePoint p,
                                                        std::chrono::nanoseconds time) {
  if (has_last_ && segments_meet(last_, p, line.from, line.to)) has_met_ = true;
  last_ = p;
  has_last_ = true;
  const double turned = turn_of(line.from, line.to, p);
  if (turned == 0) {
    is_timed_ = false;
    return std::nullopt;
  }
  const std::int8_t side = turned < 0 ? -1 : 1;
  const std::int8_t before = std::exchange(side_, side);
  const bool has_met = std::exchange(has_met_, false);
  if (settled_ == 0) settled_ = side;
  if (side == settled_) {
    is_timed_ = false;
    return std::nullopt;
  }
  if (before == settled_) is_through_ = has_met;
  if (!std::exchange(is_timed_, true)) since_ = time;
  if (time - since_ < line.hold) return std::nullopt;
  settled_ = side;
  is_timed_ = false;
  if (!is_through_) return std::nullopt;
  return Crossed{.kind = side < 0 ? ZoneEventKind::kIn : ZoneEventKind::kOut, .since = since_};
}

}  // namespace saccade
