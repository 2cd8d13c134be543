#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "limits/limits_report.hpp"
#include "measure/report/report_json.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

Json bound_json(const Bound& bound) {
  return {{"bound_ms", to_milliseconds(bound.time)},
          {"limiter", bound.limiter},
          {"compute_ms", to_milliseconds(bound.compute)},
          {"memory_ms", to_milliseconds(bound.memory)},
          {"operations", bound.work.operations},
          {"weight_bytes", bound.work.weight_bytes},
          {"activation_bytes", bound.work.activation_bytes()}};
}

void add_times(Json& json, const Bound& bound, const Timing& timing) {
  json["least_ms"] = to_milliseconds(timing.least);
  json["median_ms"] = to_milliseconds(timing.median);
  json["headroom"] = headroom(bound.time, timing.median);
}

Json layers_json(const ModelLimits& limits) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < limits.bounds.steps.size(); ++i) {
    const Step& step = limits.plan->steps()[i];
    if (!step.launch) continue;
    const Node& node = limits.plan->graph().node(step.node);
    Json layer = {{"node", node.name},
                  {"operator", node.op},
                  {"stage", to_string(step.stage)},
                  {"tactic", step.tactic->name()},
                  {"precision", to_string(limits.bounds.steps[i].work.precision)}};
    layer.update(bound_json(limits.bounds.steps[i]));
    if (limits.times) add_times(layer, limits.bounds.steps[i], limits.times->steps[i]);
    layers.push_back(std::move(layer));
  }
  return layers;
}

Json model_json(const ModelReport& report) {
  const ModelLimits& limits = report.limits;
  Json json = {{"model", limits.file}, {"threads", limits.plan->threads()}};
  if (limits.frame.width > 0) json["frame"] = to_string(CameraMode{limits.frame, 1});
  json["whole"] = bound_json(limits.bounds.whole);
  json["fused"] = bound_json(limits.bounds.fused);
  Json stages = Json::object();
  for (std::size_t i = 0; i < limits.bounds.stages.size(); ++i) {
    Json stage = bound_json(limits.bounds.stages[i]);
    if (limits.times) add_times(stage, limits.bounds.stages[i], limits.times->stages[i]);
    stages[std::string(to_string(static_cast<Stage>(i)))] = std::move(stage);
  }
  json["stages"] = std::move(stages);
  if (limits.times) {
    json["runs"] = limits.times->runs;
    add_times(json["whole"], limits.bounds.whole, limits.times->whole);
  }
  for (const PrecisionBound& each : report.precisions)
    json["precisions"].push_back({{"precision", to_string(each.precision)},
                                  {"bound_ms", to_milliseconds(each.whole.time)},
                                  {"limiter", each.whole.limiter},
                                  {"fused_ms", to_milliseconds(each.fused.time)}});
  json["layers"] = layers_json(limits);
  return json;
}

Json period_json(const PeriodReport& report) {
  Json json = {{"camera", to_string(report.camera)}, {"frame_bytes", report.camera.frame_bytes()}};
  json.update(app::to_json(report.period));
  if (report.bus_rate) json["bus_bytes_per_second"] = *report.bus_rate;
  return json;
}

}  // namespace

Json to_json(const FramePeriod& found) {
  Json stages = Json::array();
  for (const FrameStage& stage : found.stages) {
    Json row = {{"stage", stage.name}, {"ms", to_milliseconds(stage.time)}};
    if (stage.bound.count() > 0) {
      row["bound_ms"] = to_milliseconds(stage.bound);
      row["headroom"] = headroom(stage.bound, stage.time);
    }
    stages.push_back(std::move(row));
  }
  return {{"stages", stages},
          {"period_ms", to_milliseconds(found.period)},
          {"processing_ms", to_milliseconds(found.processing)},
          {"deficit_ms", to_milliseconds(found.deficit)},
          {"slack_ms", to_milliseconds(found.slack)},
          {"frames", found.frames},
          {"accumulated_ms", to_milliseconds(found.accumulated)},
          {"frames_lost", found.frames_lost},
          {"effective_rate", found.effective_rate},
          {"efficiency", found.efficiency},
          {"most_headroom", found.most_headroom}};
}

Json to_json(const LimitsReport& report) {
  Json json = {{"origin", report.origin}, {"ceilings", saccade::to_json(report.ceilings)}};
  json["models"] = Json::array();
  for (const ModelReport& model : report.models) json["models"].push_back(model_json(model));
  if (report.period) json["period"] = period_json(*report.period);
  return json;
}

Json check_json(const LimitsReport& report, double tolerance) {
  Json models = Json::array();
  for (const ModelReport& model : report.models) {
    Json rows = Json::array();
    for (const Violation& each : violations(model.limits, tolerance))
      rows.push_back({{"where", each.where},
                      {"least_ms", to_milliseconds(each.least)},
                      {"bound_ms", to_milliseconds(each.bound)},
                      {"limiter", each.limiter}});
    models.push_back({{"model", model.limits.file},
                      {"bound_ms", to_milliseconds(model.limits.bounds.whole.time)},
                      {"least_ms", to_milliseconds(model.limits.times->whole.least)},
                      {"closest", closest_to_bound(model.limits)},
                      {"violations", std::move(rows)}});
  }
  return {{"tolerance", tolerance}, {"ceilings", saccade::to_json(report.ceilings)}, {"models", std::move(models)}};
}

}  // namespace saccade::app
