#include "measure/demo/demo_report.hpp"
#include "measure/profile/profile_report.hpp"
#include "measure/report/report_json.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

/// Null without ground truth.
Json score_json(double value) { return value < 0 ? Json() : Json(value); }

void add_scores(Json& json, const SceneScores& scores) {
  json["ap50"] = score_json(scores.boxes.ap50);
  json["ap"] = score_json(scores.boxes.ap);
  if (scores.masks) {
    json["mask_ap50"] = score_json(scores.masks->ap50);
    json["mask_ap"] = score_json(scores.masks->ap);
  }
  if (scores.depth) {
    json["depth_abs_rel"] = score_json(scores.depth->abs_rel);
    json["depth_delta1"] = score_json(scores.depth->delta1);
    json["depth_rmse"] = score_json(scores.depth->rmse);
  }
  if (scores.place) json["place_top1"] = *scores.place;
}

Json classes_json(const DemoResult& result) {
  Json rows = Json::array();
  for (const auto& [name, boxes, masks] : result.classes) {
    rows.push_back(
        {{"class", name}, {"objects", boxes.objects}, {"ap50", score_json(boxes.ap50)}, {"ap", score_json(boxes.ap)}});
    if (!masks) continue;
    rows.back()["mask_ap50"] = score_json(masks->ap50);
    rows.back()["mask_ap"] = score_json(masks->ap);
  }
  return rows;
}

Json conditions_json(const DemoResult& result) {
  Json rows = Json::array();
  for (const ConditionScores& each : result.conditions) {
    rows.push_back({{"condition", each.name}, {"frames", each.images}});
    add_scores(rows.back(), each.scores);
  }
  return rows;
}

}  // namespace

nlohmann::ordered_json to_json(const DemoResult& result) {
  Json json = {{"version", version()}};
  add_scores(json, result.scores);
  json["classes"] = classes_json(result);
  json["conditions"] = conditions_json(result);
  json.update(to_json(result.profile));
  json["latency_ms"] = std::move(json["frame_ms"]);
  for (const char* detail : {"frame_ms", "launches", "histogram"}) json.erase(detail);
  return json;
}

}  // namespace saccade
