#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

/// COCO's overlaps: 0.50, 0.55 ... 0.95.
inline constexpr std::size_t kOverlaps = 10;
/// COCO's ranges of an object's area: all, small (below 32^2 pixels), medium (to 96^2), large.
inline constexpr std::size_t kAreas = 4;

/// An answer of one class, matched with what is in its image.
struct MatchedAnswer {
  using Flags = std::array<std::uint16_t, kAreas>;  ///< a bit an overlap

  double score = 0;
  int picture = 0;
  int rank = 0;  ///< its place among the image's answers of the class
  Flags right{};
  Flags ignored{};
};

/// How many objects of one class are to be found in an image, by area.
struct WantedObjects {
  int picture = 0;
  std::array<int, kAreas> count{};
};

/// The answers of one class from all images in the order of their scores, and what they were to find.
class RankedAnswers {
 public:
  /// Figures of one precision-recall curve; -1 where there was nothing to find.
  struct Curve {
    double precision = -1;  ///< made monotone, mean over 101 recalls
    double recall = -1;     ///< the highest
  };
  using Curves = std::array<Curve, kOverlaps>;

  /// Equal scores stay in the order in which they are given.
  RankedAnswers(std::vector<MatchedAnswer> answers, std::vector<WantedObjects> wanted);

  /// Objects to be found, of any area.
  int objects() const;
  /// The curve at each overlap, by objects of an AREA and the MOST best answers of each image. Image i counts
  /// TIMES[i] times; each once where that is empty.
  Curves curves(std::size_t area, int most, std::span<const int> times = {}) const;

 private:
  std::vector<MatchedAnswer> answers_;
  std::vector<WantedObjects> wanted_;
};

/// The mean of one figure over overlaps FIRST to LAST (included) and over the classes that had something to find; -1:
/// none had.
double mean(std::span<const RankedAnswers::Curves> classes, double RankedAnswers::Curve::*figure, std::size_t first = 0,
            std::size_t last = kOverlaps - 1);

}  // namespace saccade
