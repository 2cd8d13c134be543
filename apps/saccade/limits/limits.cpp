#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_registry.hpp"
#include "base/output_file.hpp"
#include "command.hpp"
#include "common.hpp"
#include "limits/limits_report.hpp"
#include "measure/limits/gpu_ceilings.hpp"
#include "measure/statistics/quantity.hpp"
#include "pipeline/model/device.hpp"
#include "pipeline/model/open_model.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace saccade::app {
namespace {

// Tolerance of --check: clock frequencies drift by as much.
constexpr double kTolerance = 0.03;
constexpr FrameSize kUsualFrame{PixelFormat::kI420, 1280, 720};

struct LimitsFlags {
  CommonFlags common;
  std::vector<std::string> models;
  std::string device_file;
  std::string save;
  std::optional<CameraMode> camera;
  std::optional<double> bus_rate;
  std::optional<Nanoseconds> capture;
  std::optional<Nanoseconds> inference;
  double seconds = 1;
  int frames = 100;
  std::size_t top = 15;
  bool check = false;
};

/// Shows the progress of a measurement on the terminal.
class Steps {
 public:
  std::function<void(double)> of(const std::string& what) {
    return [this, what](double share) { line_.say(what, what, share); };
  }
  void finish() { line_.finish(); }

 private:
  StatusLine line_;
};

/// The camera's mode and bus, from the flags or else the device file.
struct Surroundings {
  std::optional<CameraMode> camera;
  std::optional<double> bus_rate;
};

/// Sets the ceilings. Returns whether they are of this machine, so that models can run.
bool find_ceilings(LimitsReport& report, const LimitsFlags& flags, Surroundings& around, Steps& steps) {
  around = {flags.camera, flags.bus_rate};
  if (flags.device_file.empty()) {
    report.ceilings = measure_ceilings(flags.common.model, flags.common.model.threads, steps.of("measuring ceilings"));
    report.origin = "measured";
    return true;
  }
  DeviceFile device = read_device_file(flags.device_file);
  if (!around.camera) around.camera = device.camera;
  if (!around.bus_rate) around.bus_rate = device.bus_rate;
  report.ceilings = std::move(device.ceilings);
  report.origin = "as " + flags.device_file + " says";
  return report.ceilings.device == choose_backend(flags.common.model).device_name();
}

/// Compile options with the number of threads of the ceilings.
ModelOptions options_for(const Ceilings& ceilings, const LimitsFlags& flags) {
  ModelOptions options = flags.common.model;
  if (options.threads != 0 && options.threads != ceilings.threads)
    fail(ErrorCode::kInvalidArgument, "{} describes {} threads; omit --threads {} or measure again", flags.device_file,
         ceilings.threads, options.threads);
  options.threads = ceilings.threads;
  return options;
}

ModelReport report_of(const std::string& file, const CompiledModel& model, const FrameSize& frame) {
  return {.limits = {.file = file, .plan = model.plan, .frame = model.takes_frames ? frame : FrameSize{}}};
}

void bound(ModelReport& report, const Ceilings& ceilings) {
  const ModelLimits& limits = report.limits;
  report.limits.bounds = bound_plan(*limits.plan, ceilings, {.frame = limits.frame});
  report.precisions.clear();
  for (const OperandType precision : kOperandTypes) {
    const PlanBounds bounds = bound_plan(*limits.plan, ceilings, {precision, limits.frame});
    report.precisions.push_back({precision, bounds.whole, bounds.fused});
  }
}

/// The stages of a frame: given by flags, else measured.
PeriodReport period_of(const LimitsReport& report, const LimitsFlags& flags, const Surroundings& around) {
  std::vector<FrameStage> stages;
  const Nanoseconds bus = around.bus_rate ? bus_bound(*around.camera, *around.bus_rate) : Nanoseconds{};
  if (flags.capture) stages.push_back({"capture", *flags.capture, bus});
  const ModelLimits* limits = report.models.empty() ? nullptr : &report.models.front().limits;
  if (flags.inference) {
    stages.push_back({"inference", *flags.inference, limits != nullptr ? limits->bounds.whole.time : Nanoseconds{}});
  } else if (limits != nullptr && limits->times) {
    for (std::size_t i = 0; i < limits->bounds.stages.size(); ++i)
      if (limits->bounds.stages[i].time.count() > 0)
        stages.push_back({std::string(to_string(static_cast<Stage>(i))), limits->times->stages[i].median,
                          limits->bounds.stages[i].time});
  }
  if (stages.empty())
    fail(ErrorCode::kInvalidArgument,
         "there is nothing to compare with the camera's period: give a MODEL, --capture or --inference");
  return {*around.camera, around.bus_rate, frame_period(*around.camera, stages, flags.frames)};
}

/// Whether all bounds hold.
bool check(LimitsReport& report, const LimitsFlags& flags, Steps& steps) {
  // Clock frequency drifts: a time may violate the first ceilings but not the last ones.
  if (flags.device_file.empty())
    raise(report.ceilings,
          measure_ceilings(flags.common.model, flags.common.model.threads, steps.of("measuring ceilings again")));
  steps.finish();
  bool holds = true;
  for (ModelReport& model : report.models) {
    bound(model, report.ceilings);
    holds = holds && violations(model.limits, kTolerance).empty();
  }
  print_result(
      flags.common.json, [&] { return check_json(report, kTolerance); },
      [&] { return check_text(report, kTolerance); });
  return holds;
}

void save(const Ceilings& ceilings, const std::string& path) {
  OutputFile file(path);
  file.write(to_toml(ceilings));
  file.close();
}

int limits(const LimitsFlags& flags) {
  if (!flags.save.empty()) {  // before seconds of measuring
    for (const std::string& file : flags.models) note_input(file);
    check_output(flags.save);
  }
  LimitsReport report{.top = flags.top};
  Steps steps;
  Surroundings around;
  const bool is_here = find_ceilings(report, flags, around, steps);
  if (flags.check && !is_here)
    fail(ErrorCode::kInvalidArgument, "--check runs models on this machine, but {} describes '{}'", flags.device_file,
         report.ceilings.device);
  const FrameSize frame = around.camera ? around.camera->frame : kUsualFrame;
  const ModelOptions options = is_here ? options_for(report.ceilings, flags) : flags.common.model;
  for (const std::string& file : flags.models) {
    const CompiledModel model = compile_for_limits(file, options);
    ModelReport& added = report.models.emplace_back(report_of(file, model, frame));
    if (is_here && !flags.inference)
      added.limits.times = run_for_limits(model, frame, flags.seconds, steps.of("running " + file));
    bound(added, report.ceilings);
  }
  if (flags.check) return check(report, flags, steps) ? kOk : kVerdict;
  steps.finish();
  if (around.camera && (!report.models.empty() || flags.capture || flags.inference))
    report.period = period_of(report, flags, around);
  if (!flags.save.empty()) save(report.ceilings, flags.save);
  print_result(
      flags.common.json, [&] { return to_json(report); }, [&] { return to_text(report); });
  return kOk;
}

Parse into(std::optional<Nanoseconds>& time) {
  return [&time](const std::string& text) { time = std::chrono::duration<double>(parse_quantity(text, Unit::kTime)); };
}

}  // namespace

Action add_limits(FlagBinder& binder) {
  const auto flags = std::make_shared<LimitsFlags>();
  binder.bind("MODEL", &flags->models);
  binder.bind("--device-file", &flags->device_file);
  binder.bind("--output", &flags->save);
  binder.bind("--top", &flags->top);
  binder.bind("--duration", &flags->seconds);
  binder.bind("--check", &flags->check);
  binder.bind("--camera", [flags](const std::string& text) { flags->camera = parse_camera(text); });
  binder.bind("--bus", [flags](const std::string& text) { flags->bus_rate = parse_quantity(text, Unit::kByteRate); });
  binder.bind("--capture", into(flags->capture));
  binder.bind("--inference", into(flags->inference));
  binder.bind("--deficit-frames", &flags->frames);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  return {.run =
              [flags] {
                // The first model determines the device whose ceilings apply.
                if (!flags->models.empty())
                  flags->common.model = with_device_of(flags->models.front(), flags->common.model);
                return limits(*flags);
              },
          .check =
              [flags] {
                if (flags->check && flags->models.empty()) throw UsageError("--check", "give the MODEL to be run");
              }};
}

}  // namespace saccade::app
