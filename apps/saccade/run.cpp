#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <saccade/saccade.hpp>

#include "command.hpp"
#include "common.hpp"
#include "interrupt.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct RunFlags {
  CommonFlags common;
  std::vector<std::string> models;
  std::vector<std::string> sources;
  PipelineOptions pipeline;
  double duration = 0;  ///< seconds

  std::string jsonl;
  JsonlOptions jsonl_options;
  std::string coco;
  std::string csv;
  std::string yolo;
  YoloOptions yolo_options;
  std::string video;
  std::string frames;
};

using Sinks = std::vector<std::unique_ptr<Sink>>;

Sinks open_sinks(const RunFlags& flags, std::span<const Camera> cameras, std::span<const Model> models) {
  Sinks sinks;
  if (!flags.jsonl.empty()) sinks.push_back(open_jsonl(flags.jsonl, flags.jsonl_options));
  if (!flags.coco.empty()) sinks.push_back(open_coco(flags.coco, models, cameras));
  if (!flags.csv.empty()) sinks.push_back(open_csv(flags.csv));
  if (!flags.yolo.empty()) sinks.push_back(open_yolo(flags.yolo, models, cameras.size(), flags.yolo_options));
  if (!flags.video.empty()) sinks.push_back(open_video(flags.video, cameras));
  if (!flags.frames.empty()) sinks.push_back(open_frames(flags.frames));
  return sinks;
}

/// Passes results to the sinks until the sources end or the run is interrupted. Returns the first error, if any.
std::string consume(Pipeline& pipeline, const Sinks& sinks) {
  // Short enough to notice an interrupt while no frames arrive.
  constexpr auto patience = std::chrono::milliseconds(100);
  std::string fault;
  Progress progress;
  while (!interrupted()) {
    const Outcome<Result&> result = pipeline.next(patience);
    if (result) {
      for (const auto& sink : sinks) sink->write(*result, pipeline.frame());
    } else if (const Failure& failure = result.failure(); failure.status != Status::kTimeout) {
      if (fault.empty()) fault = failure.message;
      // The other sources, and the frames after a failed one, continue.
      if (failure.status != Status::kLost && failure.status != Status::kFailed) break;
    }
    progress.update(pipeline);
  }
  progress.finish();
  pipeline.stop();
  return fault;
}

/// Completes every file, even if one fails. Returns the first failure.
std::optional<Error> close_all(const Sinks& sinks, const Summary& summary) {
  std::optional<Error> first;
  for (const auto& sink : sinks) {
    try {
      sink->close(summary);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  return first;
}

bool writes_to_standard_output(const RunFlags& flags) {
  return is_standard_output(flags.jsonl) || is_standard_output(flags.csv) || is_standard_output(flags.coco);
}

void print_summary(const RunFlags& flags, const Summary& summary) {
  if (flags.common.json)
    print_report(to_json(summary) + "\n");
  else
    print_report(to_text(summary), writes_to_standard_output(flags) ? Channel::kError : Channel::kOutput);
}

int run(const RunFlags& flags) {
  std::vector<Camera> cameras;
  for (const std::string& source : flags.sources) cameras.push_back(Camera::open(source));
  std::vector<Model> models;
  for (const std::string& path : flags.models) models.push_back(Model::load(path, flags.common.model));
  const Sinks sinks = open_sinks(flags, cameras, models);
  Pipeline pipeline(cameras, models, flags.pipeline);

  std::string fault;
  try {
    fault = consume(pipeline, sinks);
  } catch (const Error&) {
    pipeline.stop();
    close_all(sinks, pipeline.summary());  // the first error is reported
    throw;
  }
  const Summary summary = pipeline.summary();
  const std::optional<Error> unwritten = close_all(sinks, summary);
  print_summary(flags, summary);
  if (!fault.empty()) throw Error(ErrorCode::kDevice, fault);
  if (unwritten) throw *unwritten;
  return kOk;
}

/// Two writers would interleave their lines.
void check_standard_output(const RunFlags& flags) {
  const int writers = is_standard_output(flags.jsonl) + is_standard_output(flags.csv) + is_standard_output(flags.coco) +
                      flags.common.json;
  if (writers > 1)
    throw CLI::ValidationError("standard output", "only one of --jsonl -, --csv -, --coco -, --json can use it");
}

void add_sinks(CLI::App& app, RunFlags& flags) {
  const std::string group = "Results";
  const auto add = [&](const char* name, std::string& path, const char* what, const char* type) {
    return app.add_option(name, path, what)->type_name(type)->group(group);
  };
  auto* jsonl =
      add("--jsonl", flags.jsonl, "Write one JSON object per frame and model; '-' is standard output", "FILE");
  app.add_flag("--contours", flags.jsonl_options.contours, "With --jsonl: also write the contours of masks")
      ->needs(jsonl)
      ->group(group);
  add("--coco", flags.coco, "Write detections in COCO's results format, with masks and keypoints", "FILE");
  add("--csv", flags.csv, "Write one CSV row per object, class, segment or depth map; '-' is standard output", "FILE");
  auto* yolo =
      add("--yolo", flags.yolo, "Write Ultralytics labels: one text file per frame, one line per object", "DIR");
  app.add_flag("--yolo-conf", flags.yolo_options.confidence, "With --yolo: append the confidence to each line")
      ->needs(yolo)
      ->group(group);
  add("--video", flags.video, "Write a video with the results drawn", "FILE.mp4");
  add("--frames", flags.frames, "Write images with the results drawn, and depth and class maps as files", "DIR");
}

void add_control(CLI::App& app, RunFlags& flags) {
  const std::string group = "Control";
  const std::map<std::string, DropPolicy> policies = {
      {"wait", DropPolicy::kWait}, {"oldest", DropPolicy::kOldest}, {"newest", DropPolicy::kNewest}};
  app.add_option_function<std::string>(
         "--drop", [&flags, policies](const std::string& name) { flags.pipeline.drop = policies.at(name); },
         "The frame to drop when the queue is full (default: wait for files)")
      ->check(CLI::IsMember({"wait", "oldest", "newest"}).description(""))
      ->type_name("wait|oldest|newest")
      ->group(group);
  app.add_option("--queue", flags.pipeline.queue, "Queue capacity in frames per source (default: 4 for files)")
      ->transform(whole(1, 1024))
      ->type_name("N")
      ->group(group);
  app.add_option("--max-frames", flags.pipeline.max_frames, "Stop after N frames of each source")
      ->transform(whole(std::int64_t{1}))
      ->type_name("N")
      ->group(group);
  app.add_option("--duration", flags.duration, "Stop after S seconds")
      ->check(number(1e-3, 1e9))
      ->type_name("SECONDS")
      ->group(group);
}

}  // namespace

std::function<int()> add_run(CLI::App& app) {
  const auto flags = std::make_shared<RunFlags>();
  app.add_option("MODEL", flags->models, "ONNX files or plans: every model processes every frame")->required();
  app.add_option("--source", flags->sources, "An image, a folder of images, a video or synthetic: (repeatable)")
      ->type_name("SRC")
      ->allow_extra_args(false)
      ->required();
  add_sinks(app, *flags);
  add_control(app, *flags);
  flags->common.add_to(app, true);
  app.callback([flags] { check_standard_output(*flags); });
  app.footer("Ctrl-C ends a run in order: files are completed, the summary is printed, the exit code is 0.");
  return [flags] {
    flags->pipeline.duration =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(flags->duration));
    return run(*flags);
  };
}

}  // namespace saccade::app
