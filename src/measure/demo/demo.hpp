#pragma once

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "measure/demo/scene_accuracy.hpp"
#include "measure/profile/profile.hpp"

namespace saccade {

struct DemoOptions {
  std::string scene = "synthetic:?seed=7";  ///< a seed that is not in the bundled model's training data
  std::string model;                        ///< an ONNX model with the scene's classes; empty: the bundled one
  std::filesystem::path output;             ///< folder of the video, the JSON lines and the images
  std::int64_t frames = std::numeric_limits<std::int64_t>::max();  ///< of the timed run, at most
  std::chrono::nanoseconds duration = std::chrono::seconds(10);    ///< of the timed run, at most; 0: no limit
  ModelOptions model_options;  ///< device, precision, threads; its thresholds are set by the demo
  float confidence = 0.4F;     ///< threshold for drawing and writing predictions; all count for the accuracy
  int condition_frames = 80;   ///< images to evaluate under each condition; 0: none
};

struct ConditionScores {
  std::string name;   ///< "clear", "night", ...
  std::string image;  ///< one of its images with drawn predictions: a file in the output folder
  int images = 0;
  SceneScores scores;
};

struct ClassScores {
  std::string name;
  DetectionMetric::ClassScores boxes;
  std::optional<DetectionMetric::ClassScores> masks;
};

struct DemoResult {
  Profile profile;  ///< of the timed run
  int width = 0;    ///< of the frames
  int height = 0;
  SceneScores scores;
  std::vector<ClassScores> classes;
  std::vector<ConditionScores> conditions;
  std::vector<std::string> images;  ///< files in the output folder, with drawn predictions
};

/// Progress callbacks of a demo.
struct DemoEvents {
  std::function<void(const std::string& what)> say;   ///< status text
  std::function<bool()> stop = [] { return false; };  ///< whether to end early
};

/// Runs the scene through the model and its sinks as profile_frames() does, then evaluates the accuracy against the
/// scene's ground truth, of the run and under each condition. Writes video.mp4, results.jsonl and images into the
/// output folder. Throws Error.
DemoResult run_demo(const DemoOptions& options, const DemoEvents& events);

}  // namespace saccade
