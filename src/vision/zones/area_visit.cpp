#include "vision/zones/area_visit.hpp"

#include <utility>

namespace saccade {

std::optional<AreaVisit::Changed> AreaVisit::move(const AreaTimes& times, bool is_inside, bool is_wanted,
                                                  std::chrono::nanoseconds time) {
  if (!is_inside) {
    if (!is_counted_) {
      is_visit_ = false;
      return std::nullopt;
    }
    if (!std::exchange(is_out_, true)) out_ = time;
    if (time - out_ < times.hold) return std::nullopt;
    return end();
  }
  if (!std::exchange(is_visit_, true)) first_ = time;
  last_ = time;
  is_out_ = false;
  if (is_counted_ || !is_wanted || time - first_ < times.hold) return std::nullopt;
  is_counted_ = true;
  return Changed{.kind = ZoneEventKind::kEnter, .since = first_, .stay = time - first_};
}

std::optional<AreaVisit::Changed> AreaVisit::miss(const AreaTimes& times, std::chrono::nanoseconds seen,
                                                  std::chrono::nanoseconds time) {
  if (time - seen <= times.lost) return std::nullopt;
  if (is_counted_) return end();
  is_visit_ = false;
  return std::nullopt;
}

void AreaVisit::break_time() {
  if (!is_counted_) is_visit_ = false;
  is_out_ = false;
}

AreaVisit::Changed AreaVisit::end() {
  const Changed left{.kind = ZoneEventKind::kLeave, .since = last_, .stay = last_ - first_};
  *this = AreaVisit();
  return left;
}

}  // namespace saccade
