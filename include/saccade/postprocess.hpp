#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saccade/nms.hpp"
#include "saccade/tracking.hpp"

namespace saccade {

/// How predictions are selected from a model's outputs.
struct PostprocessOptions {
  std::optional<float> confidence;  ///< confidence threshold, 0 to 1; nullopt: the card's, else 0.25
  std::optional<float> iou;         ///< IoU threshold of NMS, 0 to 1; nullopt: the card's, else 0.7
  Nms nms = Nms::kGreedy;           ///< for models without built-in NMS
  bool agnostic = false;            ///< class-agnostic NMS
  std::optional<bool> multi_label;  ///< one detection per class above the threshold, or the best class only;
                                    ///< nullopt: the card's
  int max_detections = 300;         ///< per frame, 1 to 30000
  int top_k = 5;                    ///< classes per frame, of a classifier
  /// Assigns Detection::track_id in a Pipeline, in each stream on its own, if the model finds objects.
  std::optional<TrackerOptions> tracker;
  std::vector<std::string> classes;  ///< names or IDs of the first head's classes to keep; empty: all
};

}  // namespace saccade
