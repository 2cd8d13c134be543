#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vision/card.hpp"

namespace saccade {

/// How boxes that overlap a better one are suppressed; saccade.SelectBoxes.
enum class Nms : std::uint8_t { kGreedy, kLinear, kGaussian, kNone };
inline constexpr std::array<std::string_view, 4> kNmsNames = {"greedy", "linear", "gaussian", "none"};

/// What is asked of a model's predictions.
struct PostOptions {
  std::optional<float> conf;        ///< detections have a higher score; nothing: as the card says, else 0.25
  float iou = 0.7F;                 ///< of two boxes of a class that overlap more, the weaker is dropped
  int max_det = 300;                ///< detections a frame
  std::vector<int> classes;         ///< ids of the first head's classes to keep; empty: all
  Nms nms = Nms::kGreedy;           ///< of models that do not choose their boxes themselves
  float sigma = 0.5F;               ///< of Nms::kGaussian
  bool agnostic = false;            ///< boxes of different classes suppress each other too
  std::optional<bool> multi_label;  ///< overrides the card's
  int top_k = 5;                    ///< classes per frame, for classifiers
};

/// What an output of an attached graph holds; N is the most objects, the first COUNT of which are there.
enum class Answer : std::uint8_t {
  kDetections,   ///< float32 [N, 6]: x1, y1, x2, y2 (source pixels), score, class
  kOriented,     ///< float32 [N, 7]: x, y (centre), width, height, angle (source pixels), score, class
  kCount,        ///< int32 [1], behind either
  kKeypoints,    ///< float32 [N, K, 2 or 3]: x, y (source pixels), confidence
  kBoxMasks,     ///< float32 [N, h, w]: logits on the model's image; an object has no pixels outside of its box
  kMasks,        ///< the same; an object may have pixels anywhere
  kRegions,      ///< float32 [N, h, w]: probabilities on the object's own box
  kRuns,         ///< int32 [R, 3], behind masks of any kind: MaskRuns by objects, unless there are untraced ones
  kRunNumbers,   ///< int32 [N, 2], behind them: an object's runs, and its pixels
  kRunCount,     ///< int32 [1], behind these: runs there are
  kUntraced,     ///< int32 [1], behind it: 0, or as many objects as there are, whose masks are to be traced from grids
  kClasses,      ///< float32 [k, 2]: score, class
  kClassMap,     ///< int32 [h, w]: class ids on the model's image, -1 where a score is NaN
  kOwnClassMap,  ///< the same as the model itself chose them: a negative one is its own
  kDepth,        ///< float32 [h, w], on the model's image
  kDepthRows,    ///< float32 [h, 5], behind it: each row's least, largest, mean and number of finite depths, and how
                 ///< many are infinity
  kImage,        ///< uint8 [h, w, 3], the image that the model made
  kImageNorm,    ///< float32 [], behind it: its numbers' absolute sum, so that one that is not finite shows
  kFaults,       ///< int32 [1]: what is wrong with the numbers of any of the head's answers, the bits of Faults
};
struct AnswerOutput {
  Answer kind = Answer::kDetections;
  std::size_t head = 0;  ///< its place in the card
};

/// A model with its pixels before and its predictions after it.
struct Attached {
  Graph graph;
  std::vector<AnswerOutput> answers;  ///< what the graph's outputs hold, one by one
};

/// CARD's pixels as saccade.Preprocess takes them.
PreprocessSpec preprocess_spec(const Card& card);

/// The whole pipeline as one graph: one input "frame" (kFrame), saccade.Preprocess, the model, and for each of the
/// card's heads its decoder and the choice of predictions; read them with ResultReader. Throws Error where card,
/// options and model contradict.
Attached attach(Graph model, const Card& card, const PostOptions& options);

}  // namespace saccade
