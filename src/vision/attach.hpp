#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vision/card.hpp"

namespace saccade {

/// The NMS method of saccade.SelectBoxes.
enum class Nms : std::uint8_t { kGreedy, kLinear, kGaussian, kNone };
inline constexpr std::array<std::string_view, 4> kNmsNames = {"greedy", "linear", "gaussian", "none"};

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

/// The contents of an output of an attached graph. N is the capacity in objects; the first COUNT are valid.
enum class Answer : std::uint8_t {
  kDetections,   ///< float32 [N, 6]: x1, y1, x2, y2 (source pixels), score, class
  kOriented,     ///< float32 [N, 7]: x, y (centre), width, height, angle (source pixels), score, class
  kCount,        ///< int32 [1], after either
  kKeypoints,    ///< float32 [N, K, 2 or 3]: x, y (source pixels), confidence
  kBoxMasks,     ///< float32 [N, h, w]: logits on the model's image, cropped to the object's box
  kMasks,        ///< the same, not cropped
  kRegions,      ///< float32 [N, h, w]: probabilities relative to the object's box
  kRuns,         ///< int32 [R, 3], after masks of any kind: MaskRuns by object, unless some are untraced
  kRunNumbers,   ///< int32 [N, 2], after them: number of runs and pixels per object
  kRunCount,     ///< int32 [1], after these: number of runs
  kUntraced,     ///< int32 [1], after it: 0, or the number of objects whose masks must be traced from grids
  kClasses,      ///< float32 [k, 2]: score, class
  kClassMap,     ///< int32 [h, w]: class IDs on the model's image, -1 where a score is NaN
  kOwnClassMap,  ///< the same from the model's own ArgMax; a negative ID is the model's
  kDepth,        ///< float32 [h, w], on the model's image
  kDepthRows,    ///< float32 [h, 5], after it: min, max, mean and number of finite depths per row, and the
                 ///< number of infinities
  kImage,        ///< uint8 [h, w, 3], the generated image
  kImageNorm,    ///< float32 [], after it: sum of absolute values, to detect numbers that are not finite
  kFaults,       ///< int32 [1]: faults in the numbers of the head's predictions, as bits of Faults
};
struct AnswerOutput {
  Answer kind = Answer::kDetections;
  std::size_t head = 0;  ///< index in the card
};

/// A model with pre- and post-processing.
struct Attached {
  Graph graph;
  std::vector<AnswerOutput> answers;  ///< the contents of the graph's outputs, in order
};

/// The attributes of saccade.Preprocess for CARD.
PreprocessSpec preprocess_spec(const Card& card);

/// The whole pipeline as one graph: one input "frame" (kFrame), saccade.Preprocess, the model, and for each head of the
/// card its decoder and selection. ResultReader reads the outputs. Throws Error if card, options and model contradict.
Attached attach(Graph model, const Card& card, const PostOptions& options);

}  // namespace saccade
