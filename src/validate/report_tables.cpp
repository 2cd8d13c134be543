#include "validate/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace saccade {
namespace {

constexpr std::size_t kClassesThatDiffer = 20;

/// Display names of the metrics.
std::string title_of(const std::string& figure) {
  constexpr std::pair<std::string_view, std::string_view> kTitles[] = {{"ap", "AP"},
                                                                       {"ap50", "AP50"},
                                                                       {"ap75", "AP75"},
                                                                       {"ap_small", "AP small"},
                                                                       {"ap_medium", "medium"},
                                                                       {"ap_large", "large"},
                                                                       {"ar1", "AR1"},
                                                                       {"ar10", "AR10"},
                                                                       {"ar20", "AR20"},
                                                                       {"ar100", "AR100"},
                                                                       {"ar50", "AR at 50"},
                                                                       {"ar75", "at 75"},
                                                                       {"ar_small", "AR small"},
                                                                       {"ar_medium", "medium"},
                                                                       {"ar_large", "large"},
                                                                       {"top1", "top-1"},
                                                                       {"top5", "top-5"},
                                                                       {"miou", "mIoU"},
                                                                       {"accuracy", "pixels"},
                                                                       {"delta1", "delta1"},
                                                                       {"abs_rel", "AbsRel"},
                                                                       {"rmse", "RMSE"},
                                                                       {"hota", "HOTA"},
                                                                       {"deta", "DetA"},
                                                                       {"assa", "AssA"},
                                                                       {"idf1", "IDF1"},
                                                                       {"mota", "MOTA"},
                                                                       {"switches", "IDSW"}};
  for (const auto& [name, title] : kTitles)
    if (name == figure) return std::string(title);
  return figure;
}

std::string figure_text(const Score::Figure& figure) {
  if (figure.is_signed) return fmt::format("{:.2f}", 100 * figure.value);
  if (figure.is_share) return points_text(figure.value);
  if (figure.name == "switches") return fmt::format("{}", figure.value);
  return figure.value < 0 ? "-" : fmt::format("{:.4f}", figure.value);
}

const Score* find_score(const std::vector<Score>& scores, const std::string& name) {
  const auto at = std::ranges::find(scores, name, &Score::name);
  return at == scores.end() ? nullptr : &*at;
}

/// "31.20 (-12.32)"
std::string changed_text(double clean, double now) {
  if (clean < 0 || now < 0) return points_text(now);
  return fmt::format("{} ({})", points_text(now), signed_text(100 * (now - clean)));
}

struct ClassRow {
  const Score::Class* ours;
  double theirs = -1;
  double difference() const { return ours->value < 0 || theirs < 0 ? 0 : 100 * (ours->value - theirs); }
};

std::vector<ClassRow> class_rows(const Validation& validation, const Score& score) {
  const Score* reference =
      validation.models.size() == 2 ? find_score(validation.models[1].scores, score.name) : nullptr;
  std::vector<ClassRow> rows;
  for (const Score::Class& each : score.classes) {
    ClassRow& row = rows.emplace_back(ClassRow{&each});
    if (reference == nullptr) continue;
    const auto other = std::ranges::find(reference->classes, each.name, &Score::Class::name);
    if (other != reference->classes.end()) row.theirs = other->value;
  }
  if (reference == nullptr) return rows;
  std::ranges::stable_sort(rows, {}, [](const ClassRow& row) { return -std::abs(row.difference()); });
  rows.resize(std::min(rows.size(), kClassesThatDiffer));
  return rows;
}

}  // namespace

std::string points_text(double share) { return share < 0 ? "-" : fmt::format("{:.2f}", 100 * share); }

std::string signed_text(double points) { return fmt::format("{:+.2f}", points); }

Table figures_table(const Validation& validation, std::size_t i) {
  const Score& first = validation.models[0].scores[i];
  Table table{.caption = first.name, .columns = {{first.name}}, .rows = {}};
  for (const Score::Figure& figure : first.figures) table.columns.push_back({title_of(figure.name), true});
  for (const Evaluation& model : validation.models) {
    const Score* score = find_score(model.scores, first.name);
    if (score == nullptr) continue;
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{model.name});
    for (const Score::Figure& figure : score->figures) row.push_back(figure_text(figure));
  }
  return table;
}

Table conditions_table(const Validation& validation) {
  Table table{.caption = "By condition", .columns = {{"condition"}}, .rows = {{"original"}}};
  for (const ConditionEvaluation& condition : validation.conditions) table.rows.push_back({condition.name});
  for (std::size_t m = 0; m < validation.models.size(); ++m) {
    const Evaluation& model = validation.models[m];
    for (std::size_t i = 0; i < model.scores.size(); ++i) {
      const Score& score = model.scores[i];
      const std::string title = fmt::format("{} {}", score.name, title_of(score.figures.front().name));
      table.columns.push_back({validation.models.size() == 1 ? title : fmt::format("{} {}", model.name, title), true});
      table.rows[0].push_back(points_text(score.headline()));
      for (std::size_t c = 0; c < validation.conditions.size(); ++c) {
        const Score* now = find_score(validation.conditions[c].scores[m], score.name);
        table.rows[c + 1].push_back(now == nullptr ? "-" : changed_text(score.headline(), now->headline()));
      }
    }
  }
  table.columns.push_back({"strength"});
  table.rows[0].emplace_back();
  for (std::size_t c = 0; c < validation.conditions.size(); ++c)
    table.rows[c + 1].push_back(validation.conditions[c].strength);
  return table;
}

Table classes_table(const Validation& validation, std::size_t i) {
  const Score& score = validation.models[0].scores[i];
  Table table{.caption = "By class",
              .columns = {{score.name + " by class"}, {score.counted == "pictures" ? "images" : score.counted, true}},
              .rows = {}};
  const std::string title = title_of(score.figures.front().name);
  const bool has_two = validation.models.size() == 2;
  for (const Evaluation& model : validation.models) table.columns.push_back({has_two ? model.name : title, true});
  if (has_two) table.columns.push_back({"difference", true});
  for (const ClassRow& each : class_rows(validation, score)) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {each.ours->name, std::to_string(each.ours->count), points_text(each.ours->value)};
    if (has_two) row.insert(row.end(), {points_text(each.theirs), signed_text(each.difference())});
  }
  return table;
}

}  // namespace saccade
