#include <nlohmann/json.hpp>

#include "saccade/version.hpp"
#include "validate/report.hpp"
#include "vision/cards/card.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return value < 0 ? Json() : Json(value); }

Json figures_json(const std::vector<Score>& scores) {
  Json json = Json::object();
  for (const Score& score : scores)
    for (const Score::Figure& figure : score.figures)
      json[score.name][figure.name] = figure.is_signed ? Json(figure.value) : number(figure.value);
  return json;
}

Json classes_json(const std::vector<Score>& scores) {
  Json json = Json::object();
  for (const Score& score : scores) {
    if (score.classes.empty()) continue;
    Json& rows = json[score.name] = Json::array();
    for (const Score::Class& each : score.classes)
      rows.push_back(
          {{"class", each.name}, {score.counted, each.count}, {score.figures.front().name, number(each.value)}});
  }
  return json;
}

/// Null: there is none.
Json tracker_json(const Evaluation& model) {
  const std::optional<TrackerOptions>& tracker = model.options.post.tracker;
  return tracker ? Json(to_string(tracker->kind)) : Json();
}

Json model_json(const Evaluation& model) {
  const PostprocessOptions& options = model.options.post;
  return {{"model", model.name},
          {"file", model.file},
          {"task", model.task},
          {"precision", to_string(model.precision)},
          {"settings",
           {{"conf", options.confidence.value_or(kUsualConfidence)},
            {"iou", options.iou.value_or(kUsualIou)},
            {"max_det", options.max_detections},
            {"agnostic", options.agnostic},
            {"multi_label", options.multi_label ? Json(*options.multi_label) : Json()},
            {"tracker", tracker_json(model)}}},
          {"scores", figures_json(model.scores)},
          {"classes", classes_json(model.scores)},
          {"invalid", model.invalid},
          {"notes", model.notes}};
}

Json conditions_json(const Validation& validation) {
  Json rows = Json::array();
  for (const ConditionEvaluation& condition : validation.conditions) {
    Json row = {{"condition", condition.name}, {"strength", condition.strength}, {"models", Json::array()}};
    for (const std::vector<Score>& scores : condition.scores) row["models"].push_back(figures_json(scores));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json share_json(const Agreement::Share& share) {
  return {{"share", number(share.value())}, {"part", share.part}, {"of", share.whole}};
}

Json agreement_json(const Agreement& agreement) {
  Json json = Json::object();
  const auto add = [&](const char* name, const Agreement::Share& share) {
    if (share.whole > 0) json[name] = share_json(share);
  };
  add("matched90", agreement.matched90);
  add("matched50", agreement.matched50);
  add("confirmed90", agreement.confirmed90);
  add("confirmed50", agreement.confirmed50);
  add("same_class", agreement.same_class);
  add("same_pixels", agreement.same_pixels);
  add("near_pixels", agreement.near_pixels);
  add("same_second_class", agreement.same_second_class);
  add("same_texts", agreement.same_texts);
  add("character_error_rate", agreement.character_errors);
  return json;
}

Json against_json(const Against& against) {
  Json differences = Json::array();
  for (const Difference& each : against.differences) {
    const std::optional<Interval>& interval = each.sets.interval;
    differences.push_back({{"score", each.score},
                           {"figure", each.figure},
                           {"points", each.points},
                           {"interval", interval ? Json{interval->low, interval->high} : Json()},
                           {"resamples", each.sets.resamples},
                           {"holds", each.holds}});
  }
  return {{"tolerance", against.tolerance},
          {"holds", against.holds()},
          {"differences", std::move(differences)},
          {"notes", against.notes},
          {"agreement", agreement_json(against.agreement)},
          {"seed", against.seed}};
}

}  // namespace

Json to_json(const Validation& validation) {
  Json json = {{"version", version()},
               {"data", validation.data},
               {"contents", validation.contents},
               {"pictures", validation.images},
               {"of_pictures", validation.all_images},
               {"interrupted", validation.is_interrupted},
               {"device", validation.device},
               {"seconds", std::chrono::duration<double>(validation.elapsed).count()},
               {"models", Json::array()},
               {"conditions", conditions_json(validation)}};
  for (const Evaluation& model : validation.models) json["models"].push_back(model_json(model));
  if (validation.against) json["against"] = against_json(*validation.against);
  return json;
}

}  // namespace saccade
