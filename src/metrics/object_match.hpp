#pragma once

#include <span>
#include <vector>

#include "metrics/precision_recall.hpp"

namespace saccade {

/// COCO's matching of one image's answers of one class with its objects of that class, whatever they are compared by.
struct ObjectMatch {
  struct Object {
    double area = 0;       ///< pixels
    bool crowd = false;    ///< any number of predictions may take it
    bool ignored = false;  ///< whatever its area, it is not to be found
  };

  std::vector<Object> objects;
  std::vector<double> areas;       ///< a prediction each, in descending order of score
  std::vector<double> similarity;  ///< of answer d and object g at d * objects.size() + g

  /// Sets the flags of ANSWERS, one an entry of `areas`, and counts what there was to find.
  void run(std::span<MatchedAnswer> answers, WantedObjects& wanted) const;
};

}  // namespace saccade
