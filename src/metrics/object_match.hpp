#pragma once

#include <span>
#include <vector>

#include "metrics/precision_recall.hpp"

namespace saccade {

/// COCO's matching of the predictions and objects of one image and class, for any similarity.
struct ObjectMatch {
  struct Object {
    double area = 0;       ///< pixels
    bool crowd = false;    ///< may be matched any number of times
    bool ignored = false;  ///< does not count, whatever its area
  };

  std::vector<Object> objects;
  std::vector<double> areas;       ///< of each prediction, in descending order of score
  std::vector<double> similarity;  ///< of prediction d and object g at d * objects.size() + g

  /// Sets the flags of PREDICTIONS, one per entry of `areas`, and counts the objects to be found.
  void run(std::span<MatchedPrediction> predictions, WantedObjects& wanted) const;
};

}  // namespace saccade
