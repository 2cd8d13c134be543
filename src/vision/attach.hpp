#pragma once

#include <optional>
#include <vector>

#include "vision/card.hpp"

namespace saccade {

/// What is asked of a model's answers.
struct PostOptions {
  float conf = 0.25F;               ///< detections have a higher score
  float iou = 0.7F;                 ///< of two boxes of a class that overlap more, the weaker is dropped
  int max_det = 300;                ///< detections a frame
  std::vector<int> classes;         ///< ids of the classes to keep; empty: all
  bool agnostic = false;            ///< boxes of different classes suppress each other too
  std::optional<bool> multi_label;  ///< overrides the card's
  int top_k = 5;                    ///< classes a frame, for classifiers
};

/// The whole pipeline as one graph: one input "frame" (kFrame), saccade.Preprocess, the model, its decoder and the
/// choice of answers. Outputs: detections float32 [max_det, 6] and their count int32 [1], or classes float32
/// [min(top_k, C), 2]; read them with read_results(). Throws Error where card, options and model contradict.
Graph attach(Graph model, const Card& card, const PostOptions& options);

}  // namespace saccade
