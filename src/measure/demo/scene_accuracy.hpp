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

/// Depth is evaluated up to so many metres: what is farther is a few pixels high, and the sky has none.
inline constexpr float kSceneDepth = 80;

/// What is to be found in a frame of the scene, with its masks; what the scene says to ignore is a crowd.
std::vector<TrueObject> objects_of(const SceneTruth& truth);

/// A result's depth, kept.
struct KeptDepth {
  GridPlace place;
  DepthKind kind = DepthKind::kMetric;
  std::vector<float> cells;
};

/// A frame's answers, kept until the scene is asked for its truth: after the run, so that it costs the run nothing.
struct AnsweredFrame {
  std::int64_t frame = 0;
  std::vector<FoundObject> found;
  bool has_masks = false;          ///< `found` has them
  std::optional<KeptDepth> depth;  ///< nothing where the model gives none
  int place = -1;                  ///< of scene_places(); -1: the model names none of them
};

/// A result's answers, classes and places as the scene numbers them.
class SceneAnswers {
 public:
  /// Matches the model's labels to the scene's classes by name. Throws Error (kInvalidArgument) where the model gives
  /// no boxes, and naming the classes that it lacks.
  explicit SceneAnswers(const Model& model);

  AnsweredFrame of(const Result& result) const;

 private:
  bool gives_masks_;
  std::vector<int> scene_class_;  ///< by the model's class id; -1: not of the scene
};

/// The answers of a run, however long: boxes and places of all its frames, masks and depths of a few hundred of them,
/// spread evenly.
class AnsweredFrames {
 public:
  static constexpr std::size_t kMostMaps = 256;

  void add(AnsweredFrame answers);
  std::span<const AnsweredFrame> frames() const { return frames_; }

 private:
  std::vector<AnsweredFrame> frames_;
  std::size_t step_ = 1;  ///< every so many frames keep masks and depth
};

/// Accuracy of predictions; nullopt for kinds that the model does not predict.
struct SceneScores {
  DetectionScores boxes;
  std::optional<DetectionScores> masks;
  std::optional<DepthScores> depth;  ///< up to kSceneDepth
  std::optional<double> place;       ///< the share of the frames whose place is right
};

/// Compares answers with a scene's truth.
class SceneEvaluator {
 public:
  explicit SceneEvaluator(const SceneOptions& options);

  void add(const AnsweredFrame& answers);
  SceneScores scores() const;
  DetectionMetric::ClassScores box_scores(int class_id) const { return boxes_.class_scores(class_id); }
  /// Nothing where no frame has masks.
  std::optional<DetectionMetric::ClassScores> mask_scores(int class_id) const;

 private:
  void add_depth(const SceneTruth& truth, const KeptDepth& depth);

  Scene scene_;
  DetectionMetric boxes_;
  DetectionMetric masks_;
  std::vector<DepthScores> depths_;
  int placed_ = 0;  ///< frames of which the model names the place
  int placed_right_ = 0;
  std::vector<float> truth_;  ///< of one frame, as is `found_`
  std::vector<float> found_;
};

}  // namespace saccade
