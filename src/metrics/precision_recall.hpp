#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace saccade {

/// COCO's IoU thresholds: 0.50, 0.55 ... 0.95.
inline constexpr std::size_t kOverlaps = 10;
/// COCO's ranges of an object's area: all, small (below 32^2 pixels), medium (to 96^2), large.
inline constexpr std::size_t kAreas = 4;

/// A prediction of one class, matched with the objects of its image.
struct MatchedPrediction {
  using Flags = std::array<std::uint16_t, kAreas>;  ///< one bit per IoU threshold

  double score = 0;
  int image = 0;
  int rank = 0;  ///< its rank among the image's predictions of the class
  Flags right{};
  Flags ignored{};
};

/// The number of objects of one class in an image, by area range.
struct WantedObjects {
  int image = 0;
  std::array<int, kAreas> count{};
};

/// The predictions of one class from all images in descending order of score, and the objects to be found.
class RankedPredictions {
 public:
  /// Summary of one precision-recall curve; -1 if there is no object.
  struct Curve {
    double precision = -1;  ///< monotone, mean over 101 recalls
    double recall = -1;     ///< maximum
  };
  using Curves = std::array<Curve, kOverlaps>;

  /// Predictions with equal scores stay in the given order.
  RankedPredictions(std::vector<MatchedPrediction> predictions, std::vector<WantedObjects> wanted);

  /// Objects of any area.
  int objects() const;
  /// The curve at each IoU threshold, with the objects of AREA and the MOST best predictions of each image. Image i has
  /// weight TIMES[i], or 1 if TIMES is empty.
  Curves curves(std::size_t area, int most, std::span<const int> times = {}) const;

 private:
  std::vector<MatchedPrediction> predictions_;
  std::vector<WantedObjects> wanted_;
};

/// The mean of one field over IoU thresholds FIRST to LAST (inclusive) and over the classes that have objects; -1 if
/// none has.
double mean(std::span<const RankedPredictions::Curves> classes, double RankedPredictions::Curve::*figure,
            std::size_t first = 0, std::size_t last = kOverlaps - 1);

}  // namespace saccade
