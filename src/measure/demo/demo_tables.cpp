#include "measure/demo/demo_tables.hpp"

#include <fmt/format.h>

namespace saccade {

std::string score_text(double score) { return score < 0 ? "-" : fmt::format("{:.3f}", score); }

Table classes_table(const DemoResult& result) {
  Table table{.caption = "By class", .columns = {{"class"}, {"objects", true}, {"AP50", true}, {"AP", true}}};
  const bool has_masks = result.scores.masks.has_value();
  if (has_masks) table.columns.insert(table.columns.end(), {{"mask AP50", true}, {"mask AP", true}});
  for (const auto& [name, boxes, masks] : result.classes) {
    table.rows.push_back({name, std::to_string(boxes.objects), score_text(boxes.ap50), score_text(boxes.ap)});
    if (masks) table.rows.back().insert(table.rows.back().end(), {score_text(masks->ap50), score_text(masks->ap)});
  }
  return table;
}

Table conditions_table(const DemoResult& result) {
  Table table{.caption = "By condition, frames half a second apart",
              .columns = {{"condition"}, {"images", true}, {"AP50", true}, {"AP", true}}};
  const SceneScores& all = result.scores;
  if (all.masks) table.columns.push_back({"mask AP", true});
  if (all.depth) table.columns.push_back({"depth AbsRel", true});
  if (all.place) table.columns.push_back({"place", true});
  for (const ConditionScores& each : result.conditions) {
    const SceneScores& scores = each.scores;
    std::vector<std::string> row = {each.name, std::to_string(each.images), score_text(scores.boxes.ap50),
                                    score_text(scores.boxes.ap)};
    if (all.masks) row.push_back(score_text(scores.masks ? scores.masks->ap : -1));
    if (all.depth) row.push_back(score_text(scores.depth ? scores.depth->abs_rel : -1));
    if (all.place) row.push_back(score_text(scores.place.value_or(-1)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace saccade
