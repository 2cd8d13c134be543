#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "vision/zones/zone_geometry.hpp"

// An object is on the left (-1) or the right (1) of a line, or on neither side (0) while its position is exactly on the
// line or its extension. A position off the line is settled once the object has stayed on that side for `hold`; the
// first one is settled at once. A change of the settled side is a crossing if the path from one side to the other has
// met the segment. A path around an end of the segment settles a side as well, but counts nothing.
//
//    settled        on the line         the far side: since, through        settled there, counted if through
//   ─────●─────────────●────────────────────●─────────── hold ──────────────────●─────
//        ▲             │                    │
//        └─────────────┴────────────────────┘ back before hold: nothing has happened
namespace saccade {

/// A line of a frame.
struct LineSegment {
  ZonePoint from;
  ZonePoint to;
  std::chrono::nanoseconds hold{};
};

/// One object and one line.
class LineCrossing {
 public:
  struct Crossed {
    ZoneEventKind kind = ZoneEventKind::kIn;
    std::chrono::nanoseconds since{};  ///< the first sighting on the far side
  };

  /// The object is at P at TIME, which does not decrease; it came there on a straight way from its last position.
  std::optional<Crossed> move(const LineSegment& line, ZonePoint p, std::chrono::nanoseconds time);
  /// The clock has jumped: what is not settled must last for `hold` from now on.
  void break_time() { is_timed_ = false; }
  /// The line has another place: the next position is the first one.
  void reset() { *this = LineCrossing(); }

 private:
  ZonePoint last_;                    ///< position; valid if has_last_
  std::chrono::nanoseconds since_{};  ///< of the stay on the far side; valid if is_timed_
  std::int8_t settled_ = 0;           ///< side; 0: not seen off the line
  std::int8_t side_ = 0;              ///< the last one that was not 0
  bool has_last_ = false;
  bool has_met_ = false;     ///< the way since `side_` was seen has met the segment
  bool is_through_ = false;  ///< the way to the far side has
  bool is_timed_ = false;    ///< it stays on the far side without a break
};

}  // namespace saccade
