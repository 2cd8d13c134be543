#include "measure/demo/demo.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/module.hpp"
#include "base/output_file.hpp"
#include "measure/demo/scene_accuracy.hpp"
#include "media/source.hpp"
#include "pipeline/sinks/drawn_frame.hpp"
#include "saccade/pipeline.hpp"

namespace saccade {
namespace {

// Low enough to draw the whole precision-recall curve, high enough to keep the predictions of a frame few.
constexpr float kAccuracyConfidence = 0.01F;
constexpr std::size_t kPictures = 6;
// Conditions are measured on images half a second apart, so that each shows something new.
constexpr double kConditionRate = 2;
// Making a text for the status line at every frame would show in the figures.
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
  model.confidence = kAccuracyConfidence;
  model.max_detections = 100;
  model.top_k = 1;
  return Model::load(file, model);
}

/// Writes one result drawn on its frame; returns the file's name in FOLDER.
std::string write_picture(const std::filesystem::path& folder, const std::string& name, const Result& result,
                          const FrameView& frame) {
  std::string file = name + ".jpg";
  DrawnFrame drawn(module<DrawModule>("draw"),
                   [&](const DrawnFrame& whole) { write_image((folder / file).string(), view_of(whole.view())); });
  drawn.add(result, frame);
  drawn.finish();
  return file;
}

/// Takes the predictions of a run: keeps them for the metric, passes on to video and JSON lines what people get to see,
/// and draws a few images spread over the run.
class Audience final : public Sink {
 public:
  Audience(const DemoOptions& options, const SceneAnswers& answers, const Camera& camera)
      : options_(options), answers_(answers), start_(Clock::now()) {
    sinks_.push_back(open_jsonl((options.output / "results.jsonl").string()));
    sinks_.push_back(open_video((options.output / "video.mp4").string(), {&camera, 1}));
  }

  void write(const Result& result, const FrameView& frame) override {
    if (frames().empty()) start_ = Clock::now();
    frames_.add(answers_.of(result));
    shown_ = result;
    std::erase_if(shown_.detections, [&](const Detection& each) { return each.confidence < options_.confidence; });
    for (const auto& sink : sinks_) sink->write(shown_, frame);
    if (pictures_.size() < kPictures && wants_picture())
      pictures_.push_back(write_picture(options_.output, fmt::format("frame-{:06}", result.frame), shown_, frame));
  }

  void close(const Summary& summary) override {
    for (const auto& sink : sinks_) sink->close(summary);
  }

  std::span<const AnsweredFrame> frames() const { return frames_.frames(); }
  std::vector<std::string>& pictures() { return pictures_; }

 private:
  /// Whether the share of the run that is over, by time or by frames, asks for the next one.
  bool wants_picture() const {
    const auto place = static_cast<double>(pictures_.size()) / kPictures;
    const double by_frames = static_cast<double>(frames().size()) / static_cast<double>(options_.frames);
    const Nanoseconds time = Clock::now() - start_;
    const double by_time = options_.duration.count() > 0 ? time / Nanoseconds(options_.duration) : 0;
    return std::max(by_frames, by_time) >= place;
  }

  const DemoOptions& options_;
  const SceneAnswers& answers_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  AnsweredFrames frames_;
  std::vector<std::string> pictures_;
  Result shown_;
  Clock::time_point start_;
};

SceneEvaluator evaluate(const SceneOptions& options, std::span<const AnsweredFrame> frames) {
  SceneEvaluator evaluator(options);
  for (const AnsweredFrame& frame : frames) evaluator.add(frame);
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

/// What all parts of a demo share.
class Demo {
 public:
  Demo(const SceneOptions& scene, const DemoOptions& options, const DemoEvents& events)
      : scene_(scene), options_(options), events_(events), model_(load_model(options)), answers_(model_) {}

  /// The timed run with its sinks.
  DemoResult run() const {
    DemoResult result{.width = scene_.width, .height = scene_.height};
    const std::string uri = to_uri(scene_);
    Audience audience(options_, answers_, Camera::open(uri));
    result.profile = profile_frames(model_, uri, profile_options(audience));
    result.pictures = std::move(audience.pictures());
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

  /// The scene under one condition, as fast as it goes.
  ConditionScores run(const Condition& condition) const {
    events_.say(fmt::format("measuring the accuracy: {}", condition.name));
    SceneOptions scene = scene_;
    scene.night = condition.night;
    scene.blur = condition.blur;
    scene.fps = kConditionRate;
    scene.frames = options_.condition_frames;
    ConditionScores scores{.name = condition.name};
    AnsweredFrames answers;
    Pipeline pipeline(Camera::open(to_uri(scene)), model_);
    while (!events_.stop()) {
      const Outcome<Result&> result = pipeline.next();
      if (!result) break;
      answers.add(answers_.of(*result));
      if (result->frame == scene.frames / 2) scores.picture = write_picture(condition, *result, pipeline.frame());
    }
    scores.pictures = static_cast<int>(answers.frames().size());
    scores.scores = evaluate(scene, answers.frames()).scores();
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
      return frames == 0 || !events_.stop();  // a warm-up leaves nothing to report
    };
    return profile;
  }

  std::string write_picture(const Condition& condition, Result& result, const FrameView& frame) const {
    std::string name = fmt::format("condition-{}", condition.name);
    std::ranges::replace(name, ' ', '-');
    std::erase_if(result.detections, [&](const Detection& each) { return each.confidence < options_.confidence; });
    return saccade::write_picture(options_.output, name, result, frame);
  }

  const SceneOptions& scene_;
  const DemoOptions& options_;
  const DemoEvents& events_;
  Model model_;
  SceneAnswers answers_;
};

}  // namespace

DemoResult run_demo(const DemoOptions& wanted, const DemoEvents& events) {
  DemoOptions options = wanted;
  SceneOptions scene = parse_scene(options.scene);
  // A profile's source starts again when it ends; the scene itself goes on for ever.
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
