#include "run_goals.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/report_text.hpp"
#include "limits/limits_report.hpp"
#include "measure/bench/process_memory.hpp"
#include "measure/goals/goals.hpp"

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

/// What limits a run that missed goals: if only rates of live sources are missed, and no frame was lost for lack of
/// time, the frames that were skipped as requested, or else the source. Otherwise the bottleneck, which is empty
/// without frames.
std::string limit_of(const Summary& summary, std::span<const GoalResult> results) {
  bool are_skipped = true;
  for (const GoalResult& result : results) {
    if (result.met) continue;
    if (result.goal.kind != GoalKind::kRate) return summary.bottleneck;
    const auto stream = std::ranges::find(summary.streams, result.source, &StreamSummary::source);
    const Ledger& ledger = stream->ledger;
    if (stream->period.count() == 0 || ledger.queue_full + ledger.no_buffer + ledger.decoder_behind > 0)
      return summary.bottleneck;
    const auto processed = static_cast<double>(std::max<std::int64_t>(ledger.processed, 1));
    const double with_all = 1 + static_cast<double>(ledger.skipped) / processed;
    are_skipped = are_skipped && result.measured.value_or(0) * with_all >= result.goal.wanted;
  }
  return are_skipped ? "skipped" : "source";
}

std::int64_t size_of(const std::string& file) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

}  // namespace

struct RunGoals::State {
  std::vector<Goal> goals;
  std::map<std::string, std::int64_t> model_bytes;
};

RunGoals::RunGoals(const std::string& file, std::span<const Source> sources, std::span<const Model> models,
                   std::span<const std::string> files)
    : state_(std::make_unique<State>()) {
  if (file.empty()) return;
  state_->goals = read_goals(file);
  std::vector<std::string> names;
  for (const Source& source : sources) names.push_back(source.info().name);
  std::vector<std::string> of_models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    of_models.push_back(models[i].name());
    state_->model_bytes[models[i].name()] = size_of(files[i]);
  }
  check_goals(state_->goals, names, of_models);
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
  const std::vector<GoalResult> results = evaluate_goals(
      state_->goals, {.summary = summary, .peak_memory = peak_memory(), .model_bytes = state_->model_bytes});
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
