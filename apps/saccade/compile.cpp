#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/report_text.hpp"
#include "command.hpp"
#include "common.hpp"
#include "pipeline/model/write_plan.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "validate/data/data_set.hpp"
#include "validate/precision_choice.hpp"
#include "validate/precision_memory.hpp"

namespace saccade::app {
namespace {

struct CompileFlags {
  CommonFlags common;
  std::string model;
  std::string plan;
  std::string data;
  double tolerance = 0.5;
  bool no_tune = false;
};

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// What decides Precision::kAuto of MODEL; nullopt on the reference device, which computes in the types of the file.
std::optional<PrecisionChoice> choose(const CompileFlags& flags, const Model& model, StatusLine& line) {
  if (model.options().device.kind == Device::Kind::kReference) return {};
  PrecisionChoice choice = choose_precision(
      {.model = flags.model,
       .options = model.options(),
       .data = flags.data,
       .tolerance = flags.tolerance,
       .candidates = faster_precisions(model.options())},
      {.progress = [&](const std::string& what, double share) { line.say("precision", what, share); }});
  remember_precision(model, choice);
  return choice;
}

nlohmann::json to_json(const PrecisionChoice& choice) {
  auto candidates = nlohmann::json::array();
  for (const PrecisionCandidate& each : choice.candidates)
    candidates.push_back({{"precision", to_string(each.precision)},
                          {"products", each.products ? nlohmann::json(*each.products) : nlohmann::json()},
                          {"products_in_float32", each.kept.size()},
                          {"relative_time", each.time},
                          {"agrees", each.agrees},
                          {"evidence", each.evidence}});
  return {{"why", choice.why}, {"candidates", candidates}};
}

nlohmann::json to_json(const CompileFlags& flags, const std::optional<PrecisionChoice>& choice,
                       const WrittenPlan& written) {
  auto tuned = nlohmann::json::array();
  for (const auto& [what, report] : written.reports)
    tuned.push_back({{"for", what},
                     {"kinds", report.node_classes},
                     {"candidates", report.candidates},
                     {"rejected", report.rejected},
                     {"device_ms_before", 1e3 * seconds(report.before)},
                     {"device_ms_after", 1e3 * seconds(report.after)}});
  return {{"model", flags.model},
          {"plan", flags.plan},
          {"device", written.device},
          {"precision", to_string(written.precision)},
          {"precision_choice", choice ? to_json(*choice) : nlohmann::json()},
          {"stay_float32", written.keep_fp32.names()},
          {"bytes", written.bytes},
          {"kernels", written.kernels},
          {"seconds", seconds(written.time)},
          {"tuned", tuned}};
}

ReportText to_text(const CompileFlags& flags, const std::optional<PrecisionChoice>& choice,
                   const WrittenPlan& written) {
  ReportText text = report_text("{}: {:.1f} MB, {} kernels, for {}, precision {}, in {:.1f} s\n", flags.plan,
                                static_cast<double>(written.bytes) / 1e6, written.kernels, written.device,
                                to_string(written.precision), seconds(written.time));
  if (choice) text += report_text("  precision {}: {}\n", to_string(choice->decided.precision), choice->why);
  for (const auto& [what, report] : written.reports) {
    if (report.node_classes == 0)
      text += report_text("  {}: nothing to tune\n", what);
    else
      text += report_text(
          "  {}: {} node classes tuned, {} candidates, {} rejected; a run takes {:.3f} ms on the device, before {:.3f} "
          "ms\n",
          what, report.node_classes, report.candidates, report.rejected, 1e3 * seconds(report.after),
          1e3 * seconds(report.before));
  }
  if (const std::size_t kept = written.keep_fp32.names().size(); kept > 0)
    text += report_text("  values and products kept in float32: {} (saccade inspect lists them)\n", kept);
  if (!written.unrecognised.empty())
    text += report_text("  not for frames: {}\n", written.unrecognised.substr(0, written.unrecognised.find(". ")));
  return text;
}

/// Rejects invalid combinations of flags.
void check(const CompileFlags& flags) {
  if (!flags.data.empty() && flags.common.model.precision != Precision::kAuto)
    throw UsageError("--data", "it decides --precision auto, and another precision is given");
}

int compile(const CompileFlags& flags) {
  if (!flags.data.empty()) open_data_set(flags.data);  // an error also where it is not needed
  StatusLine line;
  WritePlanOptions options{.model = flags.common.model, .tune = !flags.no_tune};
  options.on_progress = [&](std::string_view what, const TuneProgress& progress) {
    const std::string step = fmt::format("tuning for {}", what);
    line.write_share(step, progress.share);
    line.say(fmt::format("{} {}, {:.0f} s left", step, bar(progress.share), std::ceil(seconds(progress.left))));
  };
  std::optional<PrecisionChoice> choice;
  options.choose_precision = [&](const Model& model) {
    choice = choose(flags, model, line);
    return choice ? choice->decided : DecidedPrecision();
  };
  const WrittenPlan written = write_plan(flags.model, flags.plan, options);
  line.finish();
  print_result(
      flags.common.json, [&] { return to_json(flags, choice, written); },
      [&] { return to_text(flags, choice, written); });
  return kOk;
}

}  // namespace

Action add_compile(FlagBinder& binder) {
  const auto flags = std::make_shared<CompileFlags>();
  binder.bind("MODEL", &flags->model);
  binder.bind("--output", &flags->plan);
  binder.bind("--no-tune", &flags->no_tune);
  binder.bind("--data", [flags = flags.get()](const std::string& data) {
    find_data_kind(data);
    flags->data = data;
  });
  binder.bind("--tolerance", &flags->tolerance);
  flags->common.bind(binder);
  flags->common.bind_predictions(binder);
  return {.run = [flags] { return compile(*flags); }, .check = [flags] { check(*flags); }};
}

}  // namespace saccade::app
