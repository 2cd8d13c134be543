#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/report/table.hpp"
#include "measure/report/terminal_text.hpp"
#include "saccade/version.hpp"
#include "validate/recognition.hpp"

namespace saccade {
namespace {

constexpr std::size_t kMostTrials = 12;
constexpr std::size_t kMostFailures = 3;
constexpr std::size_t kMostReason = 100;  // characters

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

/// "its resize and interpolation"
std::string undecided_text(const Recognition& recognition) {
  std::string text;
  for (std::size_t i = 0; i < recognition.undecided.size(); ++i)
    text += fmt::format("{}{}",
                        i == 0                                  ? ""
                        : i + 1 == recognition.undecided.size() ? " and "
                                                                : ", ",
                        to_string(recognition.undecided[i]));
  return text;
}

std::string verdict_text(const Recognition& recognition) {
  const std::vector<CardTrial>& trials = recognition.trials;
  const std::string& chosen = trials[recognition.chosen].summary;
  const std::string undecided = undecided_text(recognition);
  switch (recognition.verdict) {
    case CardVerdict::kBest:
      if (undecided.empty()) return fmt::format("{} is better than all others", chosen);
      return fmt::format("{} is better than all others; its {} is too close to tell", chosen, undecided);
    case CardVerdict::kDefault:
      return fmt::format("the first {} are too close to tell in {}; {}: {}", recognition.close, undecided,
                         trials[recognition.chosen].is_default ? "the default is one of them"
                                                               : "one of them has the default's values of these",
                         chosen);
    case CardVerdict::kResize:
      return fmt::format("{}; the first {} are too close to tell in {}", chosen, recognition.close, undecided);
    case CardVerdict::kTie:
      return fmt::format(
          "none: the first {} are too close to tell in {}, and this model's default is unlikely: give more images "
          "(--max-frames)",
          recognition.close, undecided);
    case CardVerdict::kFew:
      return fmt::format("none: the best has evidence in {} images, and {} are needed: give more (--max-frames)",
                         trials[0].counted, kFewestEvidence);
    case CardVerdict::kNone: break;
  }
  return fmt::format("none: with no card are the predictions {}: an evidence of {} is needed",
                     recognition.metric.empty() ? "what a mirrored image confirms" : "right", recognition.least);
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

/// The first line of TEXT, shortened.
std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  if (text.size() <= kMostReason) return text;
  text.resize(text.rfind(' ', kMostReason));
  return text + " ...";
}

/// A note for each of the first cards that could not be tried, and one with the number of the others.
ReportText failure_notes(const std::vector<CardTrial>& trials) {
  ReportText text;
  std::size_t failed = 0;
  for (const CardTrial& trial : trials) {
    if (trial.failure.empty() || ++failed > kMostFailures) continue;
    text += wrap("note", fmt::format("not tried: {}: {}", trial.card.head().decoder->name, first_line(trial.failure)));
  }
  if (failed > kMostFailures) text += wrap("note", fmt::format("not tried: {} others", failed - kMostFailures));
  return text;
}

}  // namespace

std::string_view to_string(CardAxis axis) {
  switch (axis) {
    case CardAxis::kDecoder: return "decoder";
    case CardAxis::kLabels: return "labels";
    case CardAxis::kColor: return "color";
    case CardAxis::kNormalization: return "normalization";
    case CardAxis::kResize: return "resize";
    case CardAxis::kInterpolation: break;
  }
  return "interpolation";
}

std::string to_text(const Recognition& recognition) {
  ReportText text = wrap("data", fmt::format("{}, {} images", recognition.data, recognition.images));
  text += wrap("evidence", recognition.evidence);
  text.add("\n{}\n", to_text(trial_table(recognition)));
  text += failure_notes(recognition.trials);
  const auto tried = static_cast<std::size_t>(
      std::ranges::count_if(recognition.trials, [](const CardTrial& trial) { return trial.failure.empty(); }));
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
  Json undecided = Json::array();
  for (const CardAxis axis : recognition.undecided) undecided.push_back(to_string(axis));
  const Card* card = recognition.card();
  const Json json = {{"version", version()},
                     {"data", recognition.data},
                     {"images", recognition.images},
                     {"evidence", recognition.evidence},
                     {"verdict", verdict_name(recognition.verdict)},
                     {"close", recognition.close},
                     {"undecided", undecided},
                     {"chosen", card == nullptr ? Json() : Json(recognition.chosen)},
                     {"card", card == nullptr ? Json() : Json(to_toml(*card))},
                     {"trials", trials}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace saccade
