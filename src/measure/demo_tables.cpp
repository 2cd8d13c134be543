#include "measure/demo_tables.hpp"

#include <fmt/format.h>

namespace saccade {

std::string score_text(double score) { return score < 0 ? "-" : fmt::format("{:.3f}", score); }

Table classes_table(const DemoResult& result) {
  Table table{.caption = "By class", .columns = {{"class"}, {"objects", true}, {"AP50", true}, {"AP", true}}};
  for (const auto& [name, scores] : result.classes)
    table.rows.push_back({name, std::to_string(scores.objects), score_text(scores.ap50), score_text(scores.ap)});
  return table;
}

Table conditions_table(const DemoResult& result) {
  Table table{.caption = "By condition, pictures half a second apart",
              .columns = {{"condition"}, {"pictures", true}, {"AP50", true}, {"AP", true}, {"AP75", true}}};
  for (const ConditionScores& each : result.conditions)
    table.rows.push_back({each.name, std::to_string(each.pictures), score_text(each.scores.ap50),
                          score_text(each.scores.ap), score_text(each.scores.ap75)});
  return table;
}

}  // namespace saccade
