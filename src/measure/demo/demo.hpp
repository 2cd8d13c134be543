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
  std::string scene = "synthetic:?seed=7";  ///< a seed that the bundled model was not trained on
  std::string model;                        ///< an ONNX model that finds the scene's classes; empty: the shipped one
  std::filesystem::path output;             ///< folder for the video, the JSON lines and the images
  std::int64_t frames = std::numeric_limits<std::int64_t>::max();  ///< of the timed run, at most
  std::chrono::nanoseconds duration = std::chrono::seconds(10);    ///< of the timed run, at most; 0: no limit
  ModelOptions model_options;  ///< device, precision, threads; what it says of predictions is the demo's own affair
  float confidence = 0.4F;     ///< from which on answers are drawn and written; all count for the accuracy
  int condition_frames = 80;   ///< images to measure the accuracy under each condition; 0: none
};

struct ConditionScores {
  std::string name;     ///< "clear", "night", ...
  std::string picture;  ///< one of them with its predictions drawn: a file in the output folder
  int pictures = 0;
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
  std::vector<std::string> pictures;  ///< files in the output folder, answers drawn
};

/// What a demo tells of its progress.
struct DemoEvents {
  std::function<void(const std::string& what)> say;   ///< what is being done
  std::function<bool()> stop = [] { return false; };  ///< whether to end early, in order
};

/// Runs the scene through the model and its sinks as profile_frames() does, then measures the accuracy against the
/// scene's truth, of the run and under each condition. Writes video.mp4, results.jsonl and images into the output
/// folder. Throws Error.
DemoResult run_demo(const DemoOptions& options, const DemoEvents& events);

}  // namespace saccade
