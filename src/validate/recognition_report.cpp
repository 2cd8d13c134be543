#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "measure/report/table.hpp"
#include "measure/report/terminal_text.hpp"
#include "saccade/version.hpp"
#include "validate/recognition.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostTrials = 12;

std::string metric_text(double value) { return value < 0 ? "-" : fmt::format("{:.1f}", 100 * value); }

std::string interval_text(const Resampled& behind) {
  if (!behind.interval) return "-";
  return fmt::format("{:.3f} to {:.3f}", behind.interval->low, behind.interval->high);
}

Table trial_table(const Recognition& recognition) {
  const bool has_labels = !recognition.metric.empty();
  Table table{.caption = {}, .columns = {{"card"}}, .rows = {}};
  if (has_labels) table.columns.push_back({recognition.metric, true});
  table.columns.insert(table.columns.end(), {{"evidence", true}, {"images", true}, {"behind the best, 95 %", true}});
  for (const CardTrial& trial : recognition.trials) {
    if (table.rows.size() == kMostTrials || !trial.failure.empty()) break;
    std::vector<std::string> row{trial.summary + (trial.is_default ? " (default)" : "")};
    if (has_labels) row.push_back(metric_text(trial.metric));
    row.insert(row.end(), {fmt::format("{:.3f}", trial.evidence), std::to_string(trial.counted),
                           table.rows.empty() ? "" : interval_text(trial.behind)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string verdict_text(const Recognition& recognition) {
  const std::vector<CardTrial>& trials = recognition.trials;
  switch (recognition.verdict) {
    case CardVerdict::kBest: return fmt::format("{} is better than all others", trials[0].summary);
    case CardVerdict::kDefault:
      return fmt::format("the first {} are too close to tell; the default is one of them: {}", recognition.close,
                         trials[recognition.chosen].summary);
    case CardVerdict::kResize:
      return fmt::format("{}; its resize and {} other{} are too close to tell", trials[0].summary,
                         recognition.close - 1, recognition.close == 2 ? "" : "s");
    case CardVerdict::kTie:
      return fmt::format(
          "the first {} are too close to tell, and none is this model's default: give more images (--max-frames)",
          recognition.close);
    case CardVerdict::kFew:
      return fmt::format("none: the best has evidence in {} images, and {} are needed: give more (--max-frames)",
                         trials[0].counted, kFewestEvidence);
    case CardVerdict::kNone: break;
  }
  return recognition.metric.empty()
             ? "none: with no card does the model predict anything that a mirrored image confirms"
             : "none: with no card are the predictions right more often than by chance";
}

std::string_view verdict_name(CardVerdict verdict) {
  switch (verdict) {
    case CardVerdict::kBest: return "best";
    case CardVerdict::kDefault: return "default";
    case CardVerdict::kResize: return "resize";
    case CardVerdict::kTie: return "tie";
    case CardVerdict::kFew: return "few";
    case CardVerdict::kNone: break;
  }
  return "none";
}

}  // namespace

std::string to_text(const Recognition& recognition) {
  ReportText text = wrap("data", fmt::format("{}, {} images", recognition.data, recognition.images));
  text += wrap("evidence", recognition.evidence);
  text.add("\n{}\n", to_text(trial_table(recognition)));
  std::size_t failed = 0;
  for (const CardTrial& trial : recognition.trials) {
    if (trial.failure.empty() || ++failed > 1) continue;
    text += wrap("note", fmt::format("{} could not be tried: {}", trial.summary, trial.failure));
  }
  if (failed > 1) text += wrap("note", fmt::format("{} more could not be tried", failed - 1));
  const std::size_t tried = recognition.trials.size() - failed;
  if (tried > kMostTrials) text += wrap("note", fmt::format("{} more cards are worse", tried - kMostTrials));
  text += wrap("card", verdict_text(recognition));
  return text.str();
}

std::string to_json(const Recognition& recognition) {
  using Json = nlohmann::ordered_json;
  Json trials = Json::array();
  for (const CardTrial& trial : recognition.trials) {
    Json row = {{"card", trial.summary}, {"default", trial.is_default}};
    if (!trial.failure.empty()) {
      row["failure"] = trial.failure;
    } else {
      if (!recognition.metric.empty()) row[recognition.metric] = trial.metric < 0 ? Json() : Json(trial.metric);
      row["evidence"] = trial.evidence;
      row["images"] = trial.counted;
      row["behind"] = trial.behind.interval ? Json{trial.behind.interval->low, trial.behind.interval->high} : Json();
    }
    trials.push_back(std::move(row));
  }
  const Card* card = recognition.card();
  const Json json = {{"version", version()},
                     {"data", recognition.data},
                     {"images", recognition.images},
                     {"evidence", recognition.evidence},
                     {"verdict", verdict_name(recognition.verdict)},
                     {"close", recognition.close},
                     {"card", card == nullptr ? Json() : Json(to_toml(*card))},
                     {"trials", trials}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace saccade
