#include "measure/goals/goals.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "measure/limits/toml_quantity.hpp"
#include "media/network/uri.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kMostReportBytes = 64 << 20;

struct LatencyKey {
  std::string_view name;
  double percentile;
};
constexpr std::array kLatencies = {LatencyKey{"latency_p50", 50},    LatencyKey{"latency_p90", 90},
                                   LatencyKey{"latency_p95", 95},    LatencyKey{"latency_p99", 99},
                                   LatencyKey{"latency_p999", 99.9}, LatencyKey{"latency_max", 100}};

/// A share of 0 to 1, or a text in percent.
std::optional<double> share_of(TomlSection& section, std::string_view key) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return {};
  double value = node->is_number() ? node->value<double>().value_or(-1) : -1;
  if (const auto text = node->value_exact<std::string>()) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    std::string_view rest = std::string_view(*text).substr(static_cast<std::size_t>(end - text->data()));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    value = error == std::errc() && rest == "%" ? value / 100 : -1;
  }
  if (!(value >= 0 && value <= 1)) section.bad(node->source(), key, "must be a share from 0 to 1, or as \"0.1 %\"");
  return value;
}

/// A number above 0.
std::optional<double> number_of(TomlSection& section, std::string_view key) {
  const toml::node* node = section.find(key);
  if (node == nullptr) return {};
  const double value = node->is_number() ? node->value<double>().value_or(-1) : -1;
  if (!(value > 0)) section.bad(node->source(), key, "must be a number above 0");
  return value;
}

/// The keys that apply to sources.
void read_stream_goals(TomlSection& section, const std::string& source, std::vector<Goal>& goals) {
  for (const LatencyKey& key : kLatencies)
    if (const auto time = quantity(section, key.name, Unit::kTime, BareNumber::kRefused))
      goals.push_back({.kind = GoalKind::kLatency,
                       .name = std::string(key.name),
                       .source = source,
                       .percentile = key.percentile,
                       .wanted = 1e3 * *time});
  if (const auto rate = number_of(section, "rate"))
    goals.push_back({.kind = GoalKind::kRate, .name = "rate", .source = source, .wanted = *rate});
  if (const auto share = share_of(section, "drops"))
    goals.push_back({.kind = GoalKind::kDrops, .name = "drops", .source = source, .wanted = *share});
  if (const auto share = share_of(section, "late"))
    goals.push_back({.kind = GoalKind::kLate, .name = "late", .source = source, .wanted = *share});
}

/// The precision of EVALUATION, a model in a report; nothing if that does not tell it. "auto" is that of a plan, which
/// the report does not know, and otherwise fp32.
std::optional<Precision> reported_precision(const Json& evaluation) {
  const std::string name = evaluation.value("precision", "auto");
  if (name != "auto") return parse_precision(name);
  const std::filesystem::path file(evaluation.at("file").get<std::string>());
  if (file.extension() == ".onnx") return Precision::kFp32;
  return {};
}

/// Sets the score of GOAL, the first figure of the first score of its model in its report of `validate --json`.
void read_score(Goal& goal) {
  const std::string& path = goal.report;
  const std::string& model = goal.model;
  const Json report = Json::parse(read_input(path, kMostReportBytes), nullptr, false);
  std::vector<Json> figures;
  try {
    for (const Json& each : report.at("models")) {
      if (std::filesystem::path(each.at("file").get<std::string>()).stem() != model) continue;
      figures.push_back(each.at("scores").front().front());
      goal.precision = reported_precision(each);
    }
  } catch (const Json::exception&) {
    fail(ErrorCode::kInvalidFile, "{} is no report of saccade validate --json", path);
  }
  if (figures.size() > 1)
    fail(ErrorCode::kInvalidFile, "{} has several evaluations of the model '{}': give a report of one", path, model);
  if (figures.empty() || !figures[0].is_number())
    fail(ErrorCode::kInvalidFile, "{} has no score of the model '{}'", path, model);
  goal.score = figures[0].get<double>();
}

void read_model_goals(TomlSection& section, const std::string& model, const std::filesystem::path& folder,
                      std::vector<Goal>& goals) {
  if (const auto size = quantity(section, "size", Unit::kBytes))
    goals.push_back({.kind = GoalKind::kSize, .name = "size", .model = model, .wanted = *size});
  const auto accuracy = number_of(section, "accuracy");
  const auto report = section.text("report");
  if (accuracy.has_value() != report.has_value())
    section.bad(section.source(), accuracy ? "report" : "accuracy",
                "is missing: `accuracy` is compared with the `report` of saccade validate --json");
  if (!accuracy) return;
  Goal goal{.kind = GoalKind::kAccuracy,
            .name = "accuracy",
            .model = model,
            .wanted = *accuracy,
            .report = (folder / *report).string()};
  read_score(goal);
  goals.push_back(std::move(goal));
}

/// Throws Error unless GOAL, of a model, is for one of MODELS, and in its precision.
void check_model(const Goal& goal, std::span<const GoalModel> models) {
  std::vector<std::string> names;
  for (const GoalModel& model : models) names.push_back(model.name);
  if (std::ranges::count(names, goal.model) > 1)
    fail(ErrorCode::kInvalidArgument, "the goal {} is for the model '{}', but several have this name", goal.name,
         goal.model);
  const auto found = std::ranges::find(models, goal.model, &GoalModel::name);
  if (found == models.end())
    fail(ErrorCode::kInvalidArgument, "the goal {} is for the model '{}', but the models are {}", goal.name, goal.model,
         fmt::join(names, ", "));
  if (goal.precision && *goal.precision != found->precision)
    fail(ErrorCode::kInvalidArgument,
         "{} has the accuracy of the model '{}' in {}, but it runs in {}: evaluate it with saccade validate "
         "--precision {}",
         goal.report, goal.model, to_string(*goal.precision), to_string(found->precision), to_string(found->precision));
}

double latency_of(const Distribution& total, double percentile) {
  for (const auto& [percent, time] :
       {std::pair{50.0, total.p50}, {90.0, total.p90}, {95.0, total.p95}, {99.0, total.p99}, {99.9, total.p999}})
    if (percent == percentile) return to_milliseconds(time);
  return to_milliseconds(total.max);
}

/// How long a source was away before its first frame, and since its last one.
std::chrono::nanoseconds away_at_ends(const Outages& outages) {
  if (outages.latest.empty() || outages.latest.back().is_over) return outages.before_first;
  return outages.before_first + outages.latest.back().duration;
}

/// StreamSummary::rate, over the time in which the source was away as well.
double rate_of(const StreamSummary& stream, std::int64_t results) {
  const double between = static_cast<double>(results - 1) / stream.rate;
  const double away = std::chrono::duration<double>(away_at_ends(stream.outages)).count();
  return static_cast<double>(results - 1) / (between + away);
}

/// What GOAL limits, in the source with the index I.
std::optional<double> measured_in(const Goal& goal, const GoalFacts& facts, std::size_t i) {
  const StreamSummary& stream = facts.summary.streams[i];
  const auto total = std::ranges::find(stream.stages, "total", &StageSummary::name);
  const std::int64_t results = total == stream.stages.end() ? 0 : total->time.count;
  if (goal.kind == GoalKind::kLatency && results > 0) return latency_of(total->time, goal.percentile);
  if (goal.kind == GoalKind::kRate && stream.rate > 0) return rate_of(stream, stream.ledger.processed);
  const bool misses_unknown = stream.outages.count > 0 && facts.without_rate.contains(i);
  if (goal.kind == GoalKind::kDrops && stream.ledger.captured > 0 && !misses_unknown)
    return drop_share(stream.ledger, stream.outages.missed);
  if (goal.kind == GoalKind::kLate && results > 0 && stream.late)
    return static_cast<double>(*stream.late) / static_cast<double>(results);
  return {};
}

/// What GOAL limits, if it is not a source's.
std::optional<double> measured_in(const Goal& goal, const GoalFacts& facts) {
  if (goal.kind == GoalKind::kMemory && facts.peak_memory > 0) return static_cast<double>(facts.peak_memory);
  if (goal.kind == GoalKind::kAccuracy) return goal.score;
  const auto bytes = facts.model_bytes.find(goal.model);
  if (goal.kind == GoalKind::kSize && bytes != facts.model_bytes.end()) return static_cast<double>(bytes->second);
  return {};
}

GoalResult result_of(const Goal& goal, std::string source, std::optional<double> measured) {
  const bool met = measured && (is_at_least(goal.kind) ? *measured >= goal.wanted : *measured <= goal.wanted);
  return {.goal = goal, .source = std::move(source), .measured = measured, .met = met};
}

bool is_of_sources(GoalKind kind) { return kind <= GoalKind::kLate; }

}  // namespace

std::vector<Goal> read_goals(const std::string& path) {
  const toml::table table = read_toml(path, "goals file");
  TomlSection root(path, "", table);
  std::vector<Goal> goals;
  read_stream_goals(root, "", goals);
  if (const auto memory = quantity(root, "memory", Unit::kBytes))
    goals.push_back({.kind = GoalKind::kMemory, .name = "memory", .wanted = *memory});
  for (auto& [name, section] : root.named_sections("model")) {
    read_model_goals(section, name, std::filesystem::path(path).parent_path(), goals);
    section.end();
  }
  for (auto& [name, section] : root.named_sections("source")) {
    read_stream_goals(section, network::source_name(name), goals);
    section.end();
  }
  root.end();
  if (goals.empty()) fail(ErrorCode::kInvalidFile, "the goals file {} has no goal", path);
  return goals;
}

void check_goals(std::span<const Goal> goals, std::span<const std::string> sources, std::span<const GoalModel> models) {
  for (const Goal& goal : goals) {
    if (!goal.source.empty() && std::ranges::find(sources, goal.source) == sources.end())
      fail(ErrorCode::kInvalidArgument, "the goal {} is for the source '{}', but the sources are {}", goal.name,
           goal.source, fmt::join(sources, ", "));
    if (!goal.model.empty()) check_model(goal, models);
  }
}

std::vector<GoalResult> evaluate_goals(std::span<const Goal> goals, const GoalFacts& facts) {
  const auto has_own = [&](const StreamSummary& stream, const Goal& general) {
    return std::ranges::any_of(
        goals, [&](const Goal& each) { return each.source == stream.source && each.name == general.name; });
  };
  std::vector<GoalResult> results;
  for (const Goal& goal : goals) {
    if (!is_of_sources(goal.kind)) {
      results.push_back(result_of(goal, {}, measured_in(goal, facts)));
      continue;
    }
    for (std::size_t i = 0; i < facts.summary.streams.size(); ++i) {
      const StreamSummary& stream = facts.summary.streams[i];
      if (goal.source == stream.source || (goal.source.empty() && !has_own(stream, goal)))
        results.push_back(result_of(goal, stream.source, measured_in(goal, facts, i)));
    }
  }
  return results;
}

std::string_view unit_of(GoalKind kind) {
  constexpr std::array<std::string_view, 7> kUnits = {"ms", "frames/s", "share", "share", "bytes", "bytes", "score"};
  return kUnits[static_cast<std::size_t>(kind)];
}

bool is_at_least(GoalKind kind) { return kind == GoalKind::kRate || kind == GoalKind::kAccuracy; }

double drop_share(const Ledger& ledger, std::int64_t missed) {
  // What --every and --fps never saw.
  const std::int64_t unseen = ledger.corrupt + ledger.lost + ledger.no_buffer + ledger.decoder_behind;
  const auto selected = static_cast<double>(ledger.captured - ledger.skipped - unseen);
  const double seen = selected + static_cast<double>(ledger.skipped);
  const double gone = static_cast<double>(unseen + missed) * (seen > 0 ? selected / seen : 1);
  const double dropped = gone + static_cast<double>(ledger.queue_full + ledger.failed);
  const double wanted = selected + gone;
  return wanted > 0 ? dropped / wanted : 0;
}

}  // namespace saccade
