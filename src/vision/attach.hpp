#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saccade/nms.hpp"
#include "vision/card.hpp"
#include "vision/predictions.hpp"

namespace saccade {

/// Post-processing options.
struct PostOptions {
  std::optional<float> conf;        ///< confidence threshold; nullopt: the card's, else 0.25
  float iou = 0.7F;                 ///< IoU threshold of NMS
  int max_det = 300;                ///< detections per frame
  std::vector<int> classes;         ///< class IDs of the first head to keep; empty: all
  Nms nms = Nms::kGreedy;           ///< for models without built-in NMS
  float sigma = 0.5F;               ///< for Nms::kGaussian
  bool agnostic = false;            ///< class-agnostic NMS
  std::optional<bool> multi_label;  ///< overrides the card's
  int top_k = 5;                    ///< classes per frame, for classifiers
};

/// A model with pre- and post-processing.
struct Attached {
  Graph graph;
  PredictionOutputs outputs;  ///< what the graph's outputs hold
};

/// The attributes of saccade.Preprocess for CARD.
PreprocessSpec preprocess_spec(const Card& card);

/// The whole pipeline as one graph: one input "frame" (kFrame), saccade.Preprocess, the model, and for each head of the
/// card its decoder and selection. ResultReader reads the outputs. Throws Error if card, options and model contradict.
Attached attach(Graph model, const Card& card, const PostOptions& options);

}  // namespace saccade
