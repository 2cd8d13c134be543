#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <saccade/saccade.hpp>
#include <span>

#include "batch_flags.hpp"
#include "command.hpp"
#include "common.hpp"
#include "flags/numbers.hpp"
#include "frame_line.hpp"
#include "idle_precision.hpp"
#include "interrupt.hpp"
#include "metrics_endpoint.hpp"
#include "model_size.hpp"
#include "pipeline_view.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "run_faults.hpp"
#include "run_flags.hpp"
#include "run_goals.hpp"
#include "run_sinks.hpp"
#include "telemetry_writer.hpp"

namespace saccade::app {
namespace {

bool writes_to_standard_output(const RunFlags& flags) {
  return std::ranges::any_of(std::array{flags.jsonl, flags.csv, flags.coco, flags.mot, flags.telemetry},
                             is_standard_output);
}

/// Prints lines of text where they do not mix with the output of a sink or --json.
class Console {
 public:
  explicit Console(const RunFlags& flags)
      : channel_(writes_to_standard_output(flags) || flags.common.json ? Channel::kError : Channel::kOutput),
        models_(flags.models.size()),
        quiet_(flags.quiet) {}

  /// From now on, a line that can't be written ends the lines and not the run.
  void may_fail() { may_fail_ = true; }
  /// Why the lines have ended; empty: they have not.
  const std::string& fault() const { return fault_; }

  void print_frame(const Result& result, Progress& progress) {
    if (quiet_ || !fault_.empty()) return;
    try {
      progress.print_above([&] { print_report(frame_line(result, models_) + "\n", channel_); });
    } catch (const Error& error) {
      if (!may_fail_) throw;
      fault_ = error.what();
      if (log_level() >= LogLevel::kWarning)
        print_aside(fmt::format("saccade: warning: {}; the other outputs go on\n", printable(fault_)));
    }
  }

  /// A line about the run itself.
  void print_note(const std::string& note, Progress& progress) const {
    if (quiet_) return;
    progress.print_above([&] { print_report(printable(note) + "\n", Channel::kError); });
  }

  void print_folders(std::span<const std::string> folders) const {
    constexpr std::size_t kShown = 3;
    if (folders.empty()) return;
    const std::span<const std::string> shown = folders.first(std::min(folders.size(), kShown));
    const std::string more =
        folders.size() > kShown ? fmt::format(" and {} more", folders.size() - kShown) : std::string();
    print_report(fmt::format("drawn frames: {}{}\n", printable(fmt::format("{}", fmt::join(shown, ", "))), more),
                 channel_);
  }

 private:
  Channel channel_;
  std::size_t models_;
  bool quiet_;
  bool may_fail_ = false;
  std::string fault_;
};

/// Prints results until the sources end, the run is interrupted, or GOES_ON, which is called after each result or
/// timeout, is false. Returns the first error, if any.
std::string consume(Pipeline& pipeline, Console& console, Progress& progress, const std::function<bool()>& goes_on) {
  // Short enough to notice an interrupt while no frames arrive.
  constexpr auto patience = std::chrono::milliseconds(100);
  RunFaults faults;
  while (!interrupted()) {
    const Outcome<Result&> result = pipeline.next(patience);
    if (result) {
      console.print_frame(*result, progress);
    } else if (const Failure& failure = result.failure(); failure.status != Status::kTimeout) {
      faults.add(failure);
      // The other sources, and the frames after a failed one, continue.
      if (failure.status != Status::kLost && failure.status != Status::kFailed) break;
    }
    faults.update(bool(result));
    if (!goes_on()) break;
  }
  progress.finish();
  return faults.first();
}

/// How a run has ended.
struct FinishedRun {
  Summary summary;
  std::string fault;             ///< of a source or a model; empty: none
  std::exception_ptr exception;  ///< that has ended it; null: none
};

/// Lets CONSUME read PIPELINE, and completes its sinks, whatever ends it.
FinishedRun run_to_end(Pipeline& pipeline, const std::function<std::string()>& consume) {
  FinishedRun ended;
  try {
    ended.fault = consume();
  } catch (...) {
    ended.exception = std::current_exception();
  }
  try {
    ended.summary = pipeline.finish();
  } catch (...) {
    if (!ended.exception) ended.exception = std::current_exception();
    ended.summary = pipeline.summary();
  }
  if (ended.fault.empty() && ended.summary.ledger.failed > 0)
    ended.fault = fmt::format("models could not run on {} frames", ended.summary.ledger.failed);
  return ended;
}

/// The first fault of SINKS; empty if there is none.
std::string fault_of(std::span<const SinkSummary> sinks) {
  const auto faulty = std::ranges::find_if(sinks, [](const SinkSummary& sink) { return !sink.fault.empty(); });
  return faulty == sinks.end() ? std::string() : faulty->fault;
}

/// Whether results were to be written, and errors have ended all of SINKS.
bool has_no_reader(std::span<const SinkSummary> sinks) {
  return !sinks.empty() && std::ranges::all_of(sinks, &SinkSummary::has_ended);
}

/// The text of SUMMARY without FAULT, which the error at the end says.
std::string summary_text(Summary summary, const std::string& fault) {
  for (StreamSummary& stream : summary.streams)
    if (fault == stream.fault || fault == fmt::format("{}: {}", stream.source, stream.fault)) stream.fault.clear();
  for (SinkSummary& sink : summary.sinks)
    if (fault == sink.fault) sink.fault.clear();
  return to_text(summary);
}

void print_summary(const RunFlags& flags, const Summary& summary, const std::string& fault,
                   const std::optional<Verdict>& verdict) {
  const Channel channel = writes_to_standard_output(flags) ? Channel::kError : Channel::kOutput;
  print_result(
      flags.common.json, [&] { return to_json(summary); }, [&] { return summary_text(summary, fault); }, channel);
  if (verdict)
    print_result(
        flags.common.json, [&] { return verdict->json; }, [&] { return verdict->text; }, channel);
}

/// Whether nothing is to be written but the telemetry on standard output.
bool is_telemetry_alone(const RunFlags& flags, const Sinks& sinks) {
  return is_standard_output(flags.telemetry) && sinks.empty() && flags.quiet && flags.goals.empty() &&
         !flags.servers.metrics.is_given();
}

std::vector<Model> load_models(const RunFlags& flags) {
  std::vector<Model> models;
  ModelOptions options = flags.common.model;
  if (options.max_memory == 0)
    options.max_memory = flags.pipeline.max_memory;  // nor may a model's compilation take more
  for (const std::string& path : flags.models)
    models.push_back(Model::load(path, flags.values.options_for(path, options)));
  if (options.post.tracker && std::ranges::none_of(models, &Model::tracks))
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--track: {} finds no objects to track",
                                                         models.size() == 1 ? models[0].name() : "no model"));
  return models;
}

std::vector<ListedSource> sources_of(const RunFlags& flags) {
  std::vector<ListedSource> sources;
  for (const std::string& uri : flags.sources) sources.push_back({uri, {}});
  if (flags.sources_file.empty()) return sources;
  for (ListedSource& source : list_sources(flags.sources_file)) sources.push_back(std::move(source));
  return sources;
}

int run(const RunFlags& flags) {
  if (IdlePrecision::is_child()) {
    IdlePrecision::decide_for(flags.models, [&] { return load_models(flags); });
    return kOk;
  }
  const std::vector<Zone> zones = flags.zones.empty() ? std::vector<Zone>() : read_zones(flags.zones);
  catch_snapshot_requests();
  PipelineView view;
  MetricsEndpoint metrics(flags.servers, view);
  std::vector<Model> models;
  SourceOptions source_options = flags.source_options;
  // A camera's mode is chosen for the model. Else a mistyped source is reported before models are read.
  const auto may_be_camera = [](const std::string& uri) { return uri.starts_with("/dev/") || is_camera(uri); };
  const std::vector<ListedSource> listed = sources_of(flags);
  if (std::ranges::any_of(listed, may_be_camera, &ListedSource::uri)) {
    models = load_models(flags);
    set_model_size(source_options, models.front());
  }
  const std::vector<Source> sources = Source::open_listed(listed, source_options);
  if (models.empty()) models = load_models(flags);
  Console console(flags);
  Progress progress;
  IdlePrecision idle(models, [&](const std::string& line) { console.print_note(line, progress); });
  const RunGoals goals(flags.goals, sources, models, flags.models);  // after the precisions are decided
  Sinks sinks = open_sinks(flags, view, sources, models);
  if (!sinks.empty() || !flags.telemetry.empty() || flags.servers.metrics.is_given()) console.may_fail();
  const FolderSink* drawn = add_drawn(flags, sources, sinks);
  add_events(flags, sinks);
  PipelineOptions options = flags.pipeline;
  options.zones = zones;
  options.latency_goal = goals.latency();
  const TelemetryFile::Options telemetry_file{flags.telemetry, flags.rotate.rotation,
                                              is_retried(flags.telemetry, sources)};
  TelemetryWriter telemetry(telemetry_file, models, options.devices,
                            [&](const std::string& line) { progress.print_above([&] { print_aside(line + "\n"); }); });
  const bool ends_with_telemetry = is_telemetry_alone(flags, sinks);
  Pipeline pipeline(sources, models, options, std::move(sinks));
  metrics.monitor(models, options.devices);
  const PipelineView::Shown shown = view.show(pipeline);

  const auto goes_on = [&] {
    progress.update(pipeline);
    idle.update();
    telemetry.update(pipeline);
    return !(ends_with_telemetry && telemetry.has_ended());
  };
  const FinishedRun ended = run_to_end(pipeline, [&] { return consume(pipeline, console, progress, goes_on); });
  const Summary& summary = ended.summary;
  std::string unwritten = fault_of(summary.sinks);
  if (unwritten.empty()) unwritten = console.fault();
  const std::string telemetry_fault = telemetry.close();
  if (unwritten.empty()) unwritten = telemetry_fault;
  if (!ended.exception && has_no_reader(summary.sinks)) throw Error(ErrorCode::kIo, unwritten);
  std::optional<Verdict> verdict;
  if (goals) verdict = goals.verdict(summary);
  const auto report = [&] {
    if (drawn != nullptr) console.print_folders(drawn->folders());
    print_summary(flags, summary, ended.fault.empty() ? unwritten : ended.fault, verdict);
  };
  if (ended.exception) {
    try {
      report();
    } catch (const Error&) {
      // It is not what has ended the run.
    }
    std::rethrow_exception(ended.exception);
  }
  report();
  if (!ended.fault.empty()) throw Error(ErrorCode::kDevice, ended.fault);
  if (!unwritten.empty()) throw Error(ErrorCode::kIo, unwritten);
  return !verdict || verdict->met ? kOk : kVerdict;
}

/// Two writers would interleave their lines.
void check_standard_output(const RunFlags& flags) {
  const int writers = is_standard_output(flags.jsonl) + is_standard_output(flags.csv) + is_standard_output(flags.coco) +
                      is_standard_output(flags.mot) + is_standard_output(flags.telemetry) + flags.common.json;
  if (writers > 1)
    throw UsageError("standard output",
                     "only one of --jsonl -, --csv -, --coco -, --mot -, --telemetry -, --json can use it");
}

/// Whether PATH is a file, and no device or pipe.
bool rotates(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || is_standard_output(path)) return false;
  return !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
}

/// --rotate would be ignored by what has no file to rotate.
void check_rotation(const RunFlags& flags) {
  if (!flags.rotate.rotation.is_on()) return;
  constexpr const char* kRotating = "--jsonl, --csv, --coco, --video and --telemetry";
  for (const auto& [flag, folder] : {std::pair("--yolo", &flags.yolo), std::pair("--frames", &flags.frames)})
    if (!folder->empty())
      throw UsageError(
          "--rotate",
          fmt::format("{} writes a file per frame, which can't rotate: only the files of {} do; run it apart", flag,
                      kRotating));
  if (!flags.mot.empty())
    throw UsageError("--rotate", fmt::format("the file of --mot can't rotate: only those of {} do", kRotating));
  const std::array files = {&flags.jsonl, &flags.csv, &flags.coco, &flags.video, &flags.telemetry};
  if (std::ranges::none_of(files, [](const std::string* path) { return rotates(*path); }))
    throw UsageError("--rotate", fmt::format("nothing rotates: name a file with {}", kRotating));
}

/// run(), whose errors name --max-memory where that is the limit of each model, too.
int run_within_memory(const RunFlags& flags) {
  constexpr std::string_view kOther = "--max-model-memory";
  try {
    return run(flags);
  } catch (const Error& error) {
    std::string message = error.what();
    const std::size_t at = message.rfind(kOther);
    if (at == std::string::npos || flags.pipeline.max_memory == 0 || flags.common.model.max_memory > 0) throw;
    throw Error(error.code(), message.replace(at, kOther.size(), "--max-memory"));
  }
}

/// --max-model-memory is a part of --max-memory.
void check_memory(const RunFlags& flags) {
  if (flags.pipeline.max_memory > 0 && flags.common.model.max_memory > flags.pipeline.max_memory)
    throw UsageError("--max-model-memory", "it is a part of --max-memory, and can't be larger: raise that, too");
}

/// The memory of a GPU belongs to its process.
void check_decoding(const RunFlags& flags) {
  if (flags.source_options.isolate && flags.source_options.decode == Decoding::kCuda)
    throw UsageError("--decode", "with --isolate, the processes of the sources decode on the CPU: use --decode auto");
}

void bind_sinks(FlagBinder& binder, RunFlags& flags) {
  binder.bind("--jsonl", &flags.jsonl);
  binder.bind("--contours", &flags.jsonl_options.contours);
  binder.bind("--no-summary", [&flags](const std::string&) { flags.jsonl_options.summary = false; });
  binder.bind("--coco", &flags.coco);
  binder.bind("--mot", &flags.mot);
  binder.bind("--csv", &flags.csv);
  binder.bind("--yolo", &flags.yolo);
  binder.bind("--yolo-conf", &flags.yolo_options.confidence);
  binder.bind("--video", &flags.video);
  binder.bind("--frames", &flags.frames);
  binder.bind("--publish", &flags.publish);
  binder.bind("--mqtt", &flags.mqtt);
  binder.bind("--show", &flags.show);
  binder.bind("--no-save", [&flags](const std::string&) { flags.save = false; });
}

void bind_control(FlagBinder& binder, RunFlags& flags) {
  binder.bind_choice("--drop", flags.pipeline.drop,
                     {{"wait", DropPolicy::kWait}, {"oldest", DropPolicy::kOldest}, {"newest", DropPolicy::kNewest}});
  binder.bind("--queue", &flags.pipeline.queue);
  binder.bind_choice("--start", flags.source_options.wait_for_source, {{"all", false}, {"any", true}});
  binder.bind("--realtime", &flags.source_options.realtime);
  binder.bind("--loop", &flags.source_options.loop);
  binder.bind("--isolate", &flags.source_options.isolate);
  binder.bind_choice("--decode", flags.source_options.decode,
                     {{"auto", Decoding::kAuto}, {"cpu", Decoding::kCpu}, {"cuda", Decoding::kCuda}});
  binder.bind("--every", &flags.pipeline.every);
  binder.bind("--fps", &flags.pipeline.max_rate);
  bind_batch(binder, flags.pipeline.batch, flags.pipeline.batch_wait);
  binder.bind("--zones", &flags.zones);
  binder.bind("--goals", &flags.goals);
  binder.bind("--telemetry", &flags.telemetry);
  flags.rotate.bind(binder);
  flags.servers.bind(binder);
  binder.bind("--max-frames", &flags.pipeline.max_frames);
  binder.bind("--max-memory", &flags.pipeline.max_memory);
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
  binder.bind("--sources", &flags->sources_file);
  binder.bind("--quiet", &flags->quiet);
  bind_sinks(binder, *flags);
  bind_control(binder, *flags);
  flags->common.bind_with_devices(binder, flags->pipeline.devices);
  flags->common.bind_predictions(binder, flags->values);
  flags->common.bind_tracker(binder);
  flags->common.bind_tiles(binder);
  binder.bind("--target",
              [values = &flags->values](const std::vector<std::string>& texts) { values->read_targets(texts); });
  return {.run = [flags] { return run_within_memory(*flags); },
          .check =
              [flags] {
                check_standard_output(*flags);
                check_rotation(*flags);
                check_memory(*flags);
                check_decoding(*flags);
                flags->servers.check();
                flags->values.check_names(flags->models);
              }};
}

}  // namespace saccade::app
