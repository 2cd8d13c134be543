#include <fmt/format.h>

#include <memory>
#include <saccade/saccade.hpp>

#include "command.hpp"
#include "common.hpp"
#include "flags/numbers.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

struct RunFlags {
  CommonFlags common;
  std::vector<std::string> models;
  std::vector<std::string> sources;
  PipelineOptions pipeline;

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

Sinks open_sinks(const RunFlags& flags, std::span<const Source> sources, std::span<const Model> models) {
  Sinks sinks;
  if (!flags.jsonl.empty()) sinks.push_back(open_jsonl(flags.jsonl, flags.jsonl_options));
  if (!flags.coco.empty()) sinks.push_back(open_coco(flags.coco, models, sources));
  if (!flags.csv.empty()) sinks.push_back(open_csv(flags.csv, models));
  if (!flags.yolo.empty()) sinks.push_back(open_yolo(flags.yolo, models, sources.size(), flags.yolo_options));
  if (!flags.video.empty()) sinks.push_back(open_video(flags.video, sources));
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
  print_result(
      flags.common.json, [&] { return to_json(summary); }, [&] { return to_text(summary); },
      writes_to_standard_output(flags) ? Channel::kError : Channel::kOutput);
}

int run(const RunFlags& flags) {
  std::vector<Source> sources;
  for (const std::string& uri : flags.sources) sources.push_back(Source::open(uri));
  std::vector<Model> models;
  for (const std::string& path : flags.models) models.push_back(Model::load(path, flags.common.model));
  const Sinks sinks = open_sinks(flags, sources, models);
  Pipeline pipeline(sources, models, flags.pipeline);

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
  if (writers > 1) throw UsageError("standard output", "only one of --jsonl -, --csv -, --coco -, --json can use it");
}

void bind_sinks(FlagBinder& binder, RunFlags& flags) {
  binder.bind("--jsonl", &flags.jsonl);
  binder.bind("--contours", &flags.jsonl_options.contours);
  binder.bind("--coco", &flags.coco);
  binder.bind("--csv", &flags.csv);
  binder.bind("--yolo", &flags.yolo);
  binder.bind("--yolo-conf", &flags.yolo_options.confidence);
  binder.bind("--video", &flags.video);
  binder.bind("--frames", &flags.frames);
}

void bind_control(FlagBinder& binder, RunFlags& flags) {
  binder.bind_choice("--drop", flags.pipeline.drop,
                     {{"wait", DropPolicy::kWait}, {"oldest", DropPolicy::kOldest}, {"newest", DropPolicy::kNewest}});
  binder.bind("--queue", &flags.pipeline.queue);
  binder.bind("--max-frames", &flags.pipeline.max_frames);
  binder.bind("--duration", [&flags](const std::string& seconds) {
    flags.pipeline.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(read_number<double>(seconds).value()));
  });
}

}  // namespace

Action add_run(FlagBinder& binder) {
  const auto flags = std::make_shared<RunFlags>();
  binder.bind("MODEL", &flags->models);
  binder.bind("--source", &flags->sources);
  bind_sinks(binder, *flags);
  bind_control(binder, *flags);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  return {.run = [flags] { return run(*flags); }, .check = [flags] { check_standard_output(*flags); }};
}

}  // namespace saccade::app
