#include "run_goals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/module.hpp"
#include "base/report_text.hpp"
#include "graph/importer.hpp"
#include "limits/limits_report.hpp"
#include "measure/bench/process_memory.hpp"
#include "measure/goals/goals.hpp"
#include "runtime/plan_file.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

/// VALUE in the unit of KIND for people.
std::string readable(GoalKind kind, double value) {
  if (kind == GoalKind::kDrops || kind == GoalKind::kLate) return fmt::format("{:.3g} %", 100 * value);
  if (kind == GoalKind::kMemory || kind == GoalKind::kSize) return fmt::format("{:.1f} MB", value / 1e6);
  if (kind == GoalKind::kAccuracy) return fmt::format("{:.4g}", value);
  return fmt::format("{:.4g} {}", value, unit_of(kind));
}

ReportText text_of(const GoalResult& result) {
  const GoalKind kind = result.goal.kind;
  const std::string& of = result.source.empty() ? result.goal.model : result.source;
  return report_text("goal {}{}{}: {} {}, {}: {}\n", result.goal.name, of.empty() ? "" : " of ", of,
                     is_at_least(kind) ? "at least" : "at most", readable(kind, result.goal.wanted),
                     result.measured ? "measured " + readable(kind, *result.measured) : "nothing to measure",
                     result.met ? "met" : "missed");
}

Json json_of(const GoalResult& result) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"goal", result.goal.name},
          {"source", or_null(result.source)},
          {"model", or_null(result.goal.model)},
          {"unit", unit_of(result.goal.kind)},
          {"wanted", result.goal.wanted},
          {"measured", result.measured ? Json(*result.measured) : Json()},
          {"met", result.met}};
}

/// How the frame period of a live source is used: of the first one with a missed goal, else the first one.
std::optional<FramePeriod> period_of(const Summary& summary, std::span<const GoalResult> results) {
  const auto misses = [&](const StreamSummary& stream) {
    return std::ranges::any_of(results,
                               [&](const GoalResult& each) { return !each.met && each.source == stream.source; });
  };
  const StreamSummary* chosen = nullptr;
  for (const StreamSummary& stream : summary.streams) {
    if (stream.period.count() == 0 || stream.ledger.processed == 0) continue;
    if (chosen == nullptr || (!misses(*chosen) && misses(stream))) chosen = &stream;
  }
  if (chosen == nullptr) return {};
  std::vector<FrameStage> stages;
  // The frames of a batch share its time.
  const double share = static_cast<double>(summary.models.size()) / summary.batch;
  // Capture runs beside them, and a wait is no work.
  for (const StageSummary& stage : chosen->stages)
    if (stage.name == "pre" || stage.name == "model" || stage.name == "post")
      stages.push_back(
          {.name = stage.name, .time = std::chrono::duration_cast<std::chrono::nanoseconds>(stage.time.mean * share)});
  return frame_period({.rate = 1 / std::chrono::duration<double>(chosen->period).count()}, stages);
}

const StreamSummary& stream_of(const Summary& summary, const GoalResult& result) {
  return *std::ranges::find(summary.streams, result.source, &StreamSummary::source);
}

/// Whether the goal of RESULT was missed although the models had time for every frame of its source.
bool is_of_source(const Summary& summary, const GoalResult& result) {
  const GoalKind kind = result.goal.kind;
  if (kind != GoalKind::kRate && kind != GoalKind::kDrops) return false;
  const StreamSummary& stream = stream_of(summary, result);
  const Ledger& ledger = stream.ledger;
  if (ledger.queue_full + ledger.no_buffer + ledger.decoder_behind + ledger.failed > 0) return false;
  // A file could be read faster.
  return kind == GoalKind::kDrops || stream.period.count() > 0;
}

/// Whether the goal of RESULT would be met with the frames that were skipped as requested.
bool is_met_with_skipped(const Summary& summary, const GoalResult& result) {
  if (result.goal.kind != GoalKind::kRate) return false;
  const Ledger& ledger = stream_of(summary, result).ledger;
  const auto processed = static_cast<double>(std::max<std::int64_t>(ledger.processed, 1));
  return result.measured.value_or(0) * (1 + static_cast<double>(ledger.skipped) / processed) >= result.goal.wanted;
}

/// What limits a run that missed goals. If no frame was lost for lack of time, and live sources have missed goals: the
/// frames that were skipped as requested, or else the source. If only the process or a model has missed goals: the
/// model, or else the memory. Otherwise the bottleneck, which is empty without frames.
std::string limit_of(const Summary& summary, std::span<const GoalResult> results) {
  bool is_source = false;
  bool are_skipped = true;
  bool is_model = false;
  for (const GoalResult& result : results) {
    const GoalKind kind = result.goal.kind;
    if (result.met) continue;
    is_model = is_model || kind == GoalKind::kSize || kind == GoalKind::kAccuracy;
    if (result.source.empty()) continue;
    if (!is_of_source(summary, result)) return summary.bottleneck;
    is_source = true;
    are_skipped = are_skipped && is_met_with_skipped(summary, result);
  }
  if (is_source) return are_skipped ? "skipped" : "source";
  return is_model ? "model" : "memory";
}

/// The bytes of FILE and of those that hold its weights; nothing if the size of one can't be read.
std::optional<std::int64_t> size_of(const std::string& file) {
  std::vector<std::string> files{file};
  try {
    if (!is_plan_file(file))
      for (std::string& beside : module<OnnxModule>("onnx").data_files(file, 0)) files.push_back(std::move(beside));
  } catch (const Error&) {
    return {};
  }
  std::int64_t bytes = 0;
  for (const std::string& each : files) {
    std::error_code error;
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(each, error));
    if (error) return {};
  }
  return bytes;
}

/// What Precision::kAuto has become when models run.
Precision running_precision(const Model& model) {
  const Precision precision = model.options().precision;
  return precision == Precision::kAuto ? Precision::kFp32 : precision;
}

}  // namespace

struct RunGoals::State {
  std::vector<Goal> goals;
  std::map<std::string, std::int64_t> model_bytes;
  std::set<std::size_t> without_rate;
};

RunGoals::RunGoals(const std::string& file, std::span<const Source> sources, std::span<const Model> models,
                   std::span<const std::string> files)
    : state_(std::make_unique<State>()) {
  if (file.empty()) return;
  state_->goals = read_goals(file);
  std::vector<std::string> names;
  for (const Source& source : sources) {
    const SourceInfo& info = source.info();
    if (info.live && info.frame_rate <= 0) state_->without_rate.insert(names.size());
    names.push_back(info.name);
  }
  std::vector<GoalModel> of_models;
  for (const Model& model : models) of_models.push_back({model.name(), running_precision(model)});
  check_goals(state_->goals, names, of_models);
  const bool has_size = std::ranges::find(state_->goals, GoalKind::kSize, &Goal::kind) != state_->goals.end();
  for (std::size_t i = 0; i < models.size() && has_size; ++i)
    if (const auto bytes = size_of(files[i])) state_->model_bytes[models[i].name()] = *bytes;
}

RunGoals::~RunGoals() = default;

RunGoals::operator bool() const { return !state_->goals.empty(); }

std::chrono::nanoseconds RunGoals::latency() const {
  std::optional<double> least;
  for (const Goal& goal : state_->goals)
    if (goal.kind == GoalKind::kLatency) least = std::min(goal.wanted, least.value_or(goal.wanted));
  const std::chrono::duration<double, std::milli> time(least.value_or(0));
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time);
}

Verdict RunGoals::verdict(const Summary& summary) const {
  const std::vector<GoalResult> results = evaluate_goals(state_->goals, {.summary = summary,
                                                                         .peak_memory = peak_memory(),
                                                                         .model_bytes = state_->model_bytes,
                                                                         .without_rate = state_->without_rate});
  Verdict verdict;
  ReportText text;
  Json goals = Json::array();
  for (const GoalResult& each : results) {
    verdict.met = verdict.met && each.met;
    text += text_of(each);
    goals.push_back(json_of(each));
  }
  const std::string limit = verdict.met ? std::string() : limit_of(summary, results);
  if (!limit.empty()) text += report_text("work on: {}\n", limit);
  const std::optional<FramePeriod> period = period_of(summary, results);
  const Json json = {{"event", "verdict"},
                     {"met", verdict.met},
                     {"goals", goals},
                     {"period", period ? to_json(*period) : Json()},
                     {"work_on", limit.empty() ? Json() : Json(limit)}};
  verdict.text = text.str();
  verdict.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return verdict;
}

}  // namespace saccade::app
