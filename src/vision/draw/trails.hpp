#pragma once

#include <vector>

#include "draw/ink.hpp"
#include "draw/sheet.hpp"

namespace saccade {

/// The recent paths of tracked objects in one stream, by the centres of their boxes. Allocates only while there are
/// more tracks than ever before.
class Trails {
 public:
  /// Adds the tracks of RESULT, the next one of its model, and draws their paths. Trails from the
  /// future are dropped: the stream's clock was set back.
  void draw(const Sheet& sheet, const Result& result, Ink& ink);

 private:
  struct Place {
    std::int64_t time_ns = 0;
    float x = 0;  ///< source pixels
    float y = 0;
  };
  struct Trail {
    static constexpr std::size_t kPlaces = 64;
    int model = 0;
    std::int64_t id = 0;        ///< 0: free, with its memory
    std::vector<Place> places;  ///< a ring
    std::size_t next = 0;

    void add(const Place& place);
    const Place& newest() const { return places[(next + places.size() - 1) % places.size()]; }
    /// The I-th, from the oldest on.
    const Place& at(std::size_t i) const { return places[(places.size() < kPlaces ? i : next + i) % places.size()]; }
  };

  Trail& trail_of(int model, std::int64_t id);
  static void draw(const Sheet& sheet, const Trail& trail, std::int64_t now_ns, Color color, Ink& ink);

  std::vector<Trail> trails_;
};

}  // namespace saccade
