#pragma once

#include <span>
#include <string>
#include <vector>

#include "saccade/model.hpp"
#include "saccade/results.hpp"
#include "scene/scene.hpp"
#include "vision/detection_metric.hpp"

namespace saccade {

/// What is to be found in a frame of the scene; what the scene says to ignore is a crowd.
std::vector<TrueObject> objects_of(const SceneTruth& truth);

/// A result's answers, class ids as the scene numbers them.
class SceneAnswers {
 public:
  /// Matches the model's labels to the scene's classes by name. Throws Error (kInvalidArgument) naming the classes that
  /// the model lacks.
  explicit SceneAnswers(const Model& model);

  std::vector<FoundObject> of(const Result& result) const;

 private:
  std::vector<int> scene_class_;  ///< by the model's class id; -1: not of the scene
};

}  // namespace saccade
