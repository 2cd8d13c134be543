#include "measure/demo_report.hpp"
#include "measure/profile_report.hpp"
#include "measure/report_json.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

/// Null where there was nothing to find.
Json score_json(double value) { return value < 0 ? Json() : Json(value); }

Json classes_json(const DemoResult& result) {
  Json rows = Json::array();
  for (const auto& [name, scores] : result.classes)
    rows.push_back({{"class", name},
                    {"objects", scores.objects},
                    {"ap50", score_json(scores.ap50)},
                    {"ap", score_json(scores.ap)}});
  return rows;
}

Json conditions_json(const DemoResult& result) {
  Json rows = Json::array();
  for (const ConditionScores& each : result.conditions)
    rows.push_back({{"condition", each.name},
                    {"frames", each.pictures},
                    {"ap50", score_json(each.scores.ap50)},
                    {"ap", score_json(each.scores.ap)}});
  return rows;
}

}  // namespace

nlohmann::ordered_json to_json(const DemoResult& result) {
  Json json = {{"version", version()},
               {"ap50", score_json(result.scores.ap50)},
               {"ap", score_json(result.scores.ap)},
               {"classes", classes_json(result)},
               {"conditions", conditions_json(result)}};
  json.update(to_json(result.profile));
  json["latency_ms"] = std::move(json["frame_ms"]);
  for (const char* detail : {"frame_ms", "launches", "histogram"}) json.erase(detail);
  return json;
}

}  // namespace saccade
