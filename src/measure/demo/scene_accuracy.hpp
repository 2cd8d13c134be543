#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "metrics/depth_metric.hpp"
#include "metrics/detection_metric.hpp"
#include "saccade/model.hpp"
#include "saccade/results.hpp"
#include "scene/scene.hpp"

namespace saccade {

/// Maximum distance, in metres, for the evaluation of depth: farther objects are a few pixels high, and the sky has
/// none.
inline constexpr float kSceneDepth = 80;

/// The ground-truth objects of a frame, with masks; objects that the scene marks as ignored become crowds.
std::vector<TrueObject> objects_of(const SceneTruth& truth);

/// A stored depth map.
struct KeptDepth {
  GridPlace place;
  DepthKind kind = DepthKind::kMetric;
  std::vector<float> cells;
};

/// The predictions of a frame, stored until the run is over, so that computing the ground truth does not slow it down.
struct PredictedFrame {
  std::int64_t frame = 0;
  std::vector<FoundObject> found;
  bool has_masks = false;          ///< `found` contains masks
  std::optional<KeptDepth> depth;  ///< nothing if the model predicts none
  int place = -1;                  ///< index into scene_places(); -1: none of the model's classes
};

/// A result's predictions, with the scene's class and place numbers.
class ScenePredictions {
 public:
  /// Maps the model's labels to the scene's classes by name. Throws Error (kInvalidArgument) if the model predicts no
  /// boxes, or naming the classes that it lacks.
  explicit ScenePredictions(const Model& model);

  PredictedFrame of(const Result& result) const;

 private:
  bool gives_masks_;
  std::vector<int> scene_class_;  ///< by the model's class id; -1: not in the scene
};

/// The predictions of a run of any length: boxes and places of all its frames, masks and depths of a few hundred of
/// them, spread evenly.
class PredictedFrames {
 public:
  static constexpr std::size_t kMostMaps = 256;

  void add(PredictedFrame predictions);
  std::span<const PredictedFrame> frames() const { return frames_; }

 private:
  std::vector<PredictedFrame> frames_;
  std::size_t step_ = 1;  ///< interval of frames with stored masks and depth
};

/// Accuracy of predictions; nullopt for kinds that the model does not predict.
struct SceneScores {
  DetectionScores boxes;
  std::optional<DetectionScores> masks;
  std::optional<DepthScores> depth;  ///< up to kSceneDepth
  std::optional<double> place;       ///< share of frames with the correct place
};

/// Evaluates predictions against a scene's ground truth.
class SceneEvaluator {
 public:
  explicit SceneEvaluator(const SceneOptions& options);

  void add(const PredictedFrame& predictions);
  SceneScores scores() const;
  DetectionMetric::ClassScores box_scores(int class_id) const { return boxes_.class_scores(class_id); }
  /// Nothing if no frame has masks.
  std::optional<DetectionMetric::ClassScores> mask_scores(int class_id) const;

 private:
  void add_depth(const SceneTruth& truth, const KeptDepth& depth);

  Scene scene_;
  DetectionMetric boxes_;
  DetectionMetric masks_;
  std::vector<DepthScores> depths_;
  int placed_ = 0;  ///< frames with a predicted place
  int placed_right_ = 0;
  std::vector<float> truth_;  ///< of one frame, as is `found_`
  std::vector<float> found_;
};

}  // namespace saccade
