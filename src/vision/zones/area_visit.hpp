#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "saccade/zones.hpp"

namespace saccade {

/// The times of an area.
struct AreaTimes {
  std::chrono::nanoseconds hold{};
  std::chrono::nanoseconds lost{};
};

/// One object and one area. A visit lasts from the first to the last sighting in the area. It begins to count after
/// `hold` and ends after `hold` outside, or once the object is not seen for longer than `lost`.
class AreaVisit {
 public:
  struct Changed {
    ZoneEventKind kind = ZoneEventKind::kEnter;
    std::chrono::nanoseconds since{};  ///< kEnter: the first sighting in the area; kLeave: the last one
    std::chrono::nanoseconds stay{};   ///< from the first sighting in the area to the last one so far
  };

  /// The object is in the area, or not, at TIME, which does not decrease. IS_WANTED: its class counts.
  std::optional<Changed> move(const AreaTimes& times, bool is_inside, bool is_wanted, std::chrono::nanoseconds time);
  /// The object is not seen at TIME, but was at SEEN.
  std::optional<Changed> miss(const AreaTimes& times, std::chrono::nanoseconds seen, std::chrono::nanoseconds time);
  /// The clock has jumped: what does not count yet must last for `hold` from now on.
  void break_time();
  /// Whether the visit counts.
  bool is_counted() const { return is_counted_; }

 private:
  Changed end();

  std::chrono::nanoseconds first_{};  ///< sighting in the area; valid if is_visit_
  std::chrono::nanoseconds last_{};
  std::chrono::nanoseconds out_{};  ///< the first sighting outside after `last_`; valid if is_out_
  bool is_visit_ = false;
  bool is_counted_ = false;
  bool is_out_ = false;
};

}  // namespace saccade
