#include "measure/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/module.hpp"
#include "base/output_file.hpp"
#include "measure/demo/scene_accuracy.hpp"
#include "media/frame_reader.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {
namespace {

// Low enough for the whole precision-recall curve, high enough for few predictions per frame.
constexpr float kAccuracyConfidence = 0.01F;
constexpr std::size_t kImages = 6;
// Conditions are evaluated on images half a second apart, so that each shows something new.
constexpr double kConditionRate = 2;
// Formatting the status line for every frame would affect the measurements.
constexpr std::int64_t kFramesToSay = 16;

struct Condition {
  const char* name;
  float night;
  float blur;
};
constexpr Condition kConditions[] = {
    {"clear", 0, 0}, {"night", 0.8F, 0}, {"blur", 0, 0.5F}, {"night and blur", 0.8F, 0.5F}};

Model load_model(const DemoOptions& options) {
  const std::string file = options.model.empty() ? data_file("scene_model.onnx").string() : options.model;
  ModelOptions model = options.model_options;
  model.post.confidence = kAccuracyConfidence;
  model.post.max_detections = 100;
  model.post.top_k = 1;
  return Model::load(file, model);
}

/// Writes one result drawn on its frame; returns the file's name in FOLDER.
std::string write_drawn_image(const std::filesystem::path& folder, const std::string& name, const Result& result,
                              const FrameView& frame) {
  std::string file = name + ".jpg";
  DrawnFrame drawn(module<DrawModule>("draw"),
                   [&](const DrawnFrame& whole) { write_image((folder / file).string(), view_of(whole.view())); });
  drawn.add(result, frame);
  drawn.finish();
  return file;
}

/// Receives the predictions of a run: keeps them for the metrics, forwards those above the display threshold to video
/// and JSON lines, and draws a few images spread over the run.
class Audience final : public Sink {
 public:
  Audience(const DemoOptions& options, const ScenePredictions& predictions, const Source& source)
      : options_(options), predictions_(predictions), start_(Clock::now()) {
    sinks_.push_back(open_jsonl((options.output / "results.jsonl").string()));
    sinks_.push_back(open_video((options.output / "video.mp4").string(), {&source, 1}));
  }

  void write(const Result& result, const FrameView& frame) override {
    if (frames().empty()) start_ = Clock::now();
    frames_.add(predictions_.of(result));
    shown_ = result;
    std::erase_if(shown_.detections, [&](const Detection& each) { return each.confidence < options_.confidence; });
    for (const auto& sink : sinks_) sink->write(shown_, frame);
    if (images_.size() < kImages && wants_image())
      images_.push_back(write_drawn_image(options_.output, fmt::format("frame-{:06}", result.frame), shown_, frame));
  }

  void close(const Summary& summary) override {
    for (const auto& sink : sinks_) sink->close(summary);
  }

  std::span<const PredictedFrame> frames() const { return frames_.frames(); }
  std::vector<std::string>& images() { return images_; }

 private:
  /// Whether the completed share of the run, by time or by frames, has reached the next image.
  bool wants_image() const {
    const auto place = static_cast<double>(images_.size()) / kImages;
    const double by_frames = static_cast<double>(frames().size()) / static_cast<double>(options_.frames);
    const Nanoseconds time = Clock::now() - start_;
    const double by_time = options_.duration.count() > 0 ? time / Nanoseconds(options_.duration) : 0;
    return std::max(by_frames, by_time) >= place;
  }

  const DemoOptions& options_;
  const ScenePredictions& predictions_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  PredictedFrames frames_;
  std::vector<std::string> images_;
  Result shown_;
  Clock::time_point start_;
};

SceneEvaluator evaluate(const SceneOptions& options, std::span<const PredictedFrame> frames) {
  SceneEvaluator evaluator(options);
  for (const PredictedFrame& frame : frames) evaluator.add(frame);
  return evaluator;
}

std::string progress_text(const DemoOptions& options, std::int64_t frames, Nanoseconds elapsed) {
  const double seconds = elapsed.count() / 1e9;
  const std::string rate =
      seconds > 0 ? fmt::format(", {:.1f} per second", static_cast<double>(frames) / seconds) : std::string();
  const double whole = std::chrono::duration<double>(options.duration).count();
  return fmt::format("{} frames in {:.1f}{} s{}", frames, seconds, whole > 0 ? fmt::format(" of {:.1f}", whole) : "",
                     rate);
}

/// Shared state of all parts of a demo.
class Demo {
 public:
  Demo(const SceneOptions& scene, const DemoOptions& options, const DemoEvents& events)
      : scene_(scene), options_(options), events_(events), model_(load_model(options)), predictions_(model_) {}

  /// The timed run with its sinks.
  DemoResult run() const {
    DemoResult result{.width = scene_.width, .height = scene_.height};
    const std::string uri = to_uri(scene_);
    Audience audience(options_, predictions_, Source::open(uri));
    result.profile = profile_frames(model_, uri, profile_options(audience));
    result.images = std::move(audience.images());
    events_.say("comparing the predictions with the ground truth");
    const SceneEvaluator scores = evaluate(scene_, audience.frames());
    result.scores = scores.scores();
    const auto names = scene_classes();
    for (std::size_t c = 0; c < names.size(); ++c) {
      const auto id = static_cast<int>(c);
      result.classes.push_back({std::string(names[c]), scores.box_scores(id), scores.mask_scores(id)});
    }
    return result;
  }

  /// The scene under one condition, unthrottled.
  ConditionScores run(const Condition& condition) const {
    events_.say(fmt::format("measuring the accuracy: {}", condition.name));
    SceneOptions scene = scene_;
    scene.night = condition.night;
    scene.blur = condition.blur;
    scene.fps = kConditionRate;
    scene.frames = options_.condition_frames;
    ConditionScores scores{.name = condition.name};
    PredictedFrames predictions;
    Pipeline pipeline(Source::open(to_uri(scene)), model_);
    while (!events_.stop()) {
      const Outcome<Result&> result = pipeline.next();
      if (!result) break;
      predictions.add(predictions_.of(*result));
      if (result->frame % kFramesToSay == 0)
        events_.say(
            fmt::format("measuring the accuracy: {}, {} %", condition.name, 100 * result->frame / scene.frames));
      if (result->frame == scene.frames / 2) scores.image = write_drawn_image(condition, *result, pipeline.frame());
    }
    scores.images = static_cast<int>(predictions.frames().size());
    scores.scores = evaluate(scene, predictions.frames()).scores();
    return scores;
  }

 private:
  ProfileOptions profile_options(Audience& audience) const {
    ProfileOptions profile{.frames = options_.frames, .duration = options_.duration, .sink = &audience};
    profile.overhead_budget = {};
    profile.on_ceilings = [this](double share) {
      events_.say(fmt::format("measuring ceilings: {:.0f} %", 100 * share));
    };
    profile.on_frame = [this, start = Clock::time_point()](std::int64_t frames) mutable {
      if (frames == 0) start = Clock::now();
      if (frames % kFramesToSay == 0) events_.say(progress_text(options_, frames, Clock::now() - start));
      return frames == 0 || !events_.stop();  // a warm-up is not reported
    };
    return profile;
  }

  std::string write_drawn_image(const Condition& condition, Result& result, const FrameView& frame) const {
    std::string name = fmt::format("condition-{}", condition.name);
    std::ranges::replace(name, ' ', '-');
    std::erase_if(result.detections, [&](const Detection& each) { return each.confidence < options_.confidence; });
    return saccade::write_drawn_image(options_.output, name, result, frame);
  }

  const SceneOptions& scene_;
  const DemoOptions& options_;
  const DemoEvents& events_;
  Model model_;
  ScenePredictions predictions_;
};

}  // namespace

DemoResult run_demo(const DemoOptions& wanted, const DemoEvents& events) {
  DemoOptions options = wanted;
  SceneOptions scene = parse_scene(options.scene);
  // A profile restarts a finite source; the scene itself is endless.
  if (scene.frames >= 0) options.frames = std::min(options.frames, scene.frames);
  scene.frames = -1;
  const Demo demo(scene, options, events);
  make_folder(options.output.string());
  DemoResult result = demo.run();
  if (options.condition_frames > 0)
    for (const Condition& condition : kConditions)
      if (!events.stop()) result.conditions.push_back(demo.run(condition));
  return result;
}

}  // namespace saccade
