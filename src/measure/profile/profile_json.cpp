#include "base/clock.hpp"
#include "measure/profile/profile_report.hpp"
#include "measure/profile/profile_tables.hpp"
#include "measure/report/report_json.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

/// Adds a bound; nothing if it is unknown.
void add_bound(Json& row, const Bound& bound, double headroom) {
  if (bound.time.count() <= 0) return;
  row["bound_ms"] = to_milliseconds(bound.time);
  row["limiter"] = bound.limiter;
  row["headroom"] = headroom;
}

Json stages_json(const Profile& profile) {
  Json rows = Json::array();
  for (const StageProfile& stage : profile.stages) {
    Json row = {{"name", stage.name}, {"ms", distribution_json(stage.time)}, {"share", stage.share}};
    if (stage.bound) add_bound(row, *stage.bound, stage.headroom);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json launches_json(const std::vector<LaunchProfile>& launches) {
  Json rows = Json::array();
  for (const LaunchProfile& launch : launches) {
    Json row = {{"step", launch.step},
                {"node", launch.node},
                {"operation", launch.operation},
                {"output", launch.output},
                {"stage", to_string(launch.stage)},
                {"tactic", launch.tactic},
                {"detail", launch.detail},
                {"ms", distribution_json(launch.time)},
                {"share", launch.share},
                {"gap_after_ms", to_milliseconds(launch.gap_after)},
                {"operations", launch.bound.work.operations},
                {"bytes", launch.bound.work.weight_bytes + launch.bound.work.activation_bytes()}};
    add_bound(row, launch.bound, launch.headroom);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json shape_json(const LatencyShape& shape) {
  Json bins = Json::array();
  for (const LatencyShape::Bin& bin : shape.bins)
    bins.push_back(
        {{"low_ms", to_milliseconds(bin.low)}, {"high_ms", to_milliseconds(bin.high)}, {"count", bin.count}});
  Json density = Json::array();
  for (const LatencyShape::DensityPoint& point : shape.density)
    density.push_back({to_milliseconds(point.at), point.count});
  return {{"bins", bins}, {"density", density}, {"samples", shape.samples}, {"beyond", shape.beyond}};
}

Json overhead_json(const Overhead& overhead) {
  return {{"share", overhead.expected_share()},
          {"measured_share", overhead.share},
          {"interval", {overhead.interval.low, overhead.interval.high}},
          {"with_ms", to_milliseconds(overhead.with)},
          {"without_ms", to_milliseconds(overhead.without)},
          {"events", overhead.events},
          {"ns_an_event", overhead.per_event.count()},
          {"blocks", overhead.blocks}};
}

}  // namespace

nlohmann::ordered_json to_json(const Profile& profile) {
  Json report = {{"model", profile.model},
                 {"source", profile.source},
                 {"frame", profile.frame},
                 {"device", profile.plan->backend().device_name()},
                 {"threads", profile.plan->threads()},
                 {"frames", profile.frames},
                 {"warm_up", profile.warm_up},
                 {"seconds", std::chrono::duration<double>(profile.elapsed).count()},
                 {"fps", profile.frames_per_second},
                 {"stages", stages_json(profile)},
                 {"frame_ms", distribution_json(profile.frame_time)},
                 {"launches", launches_json(profile.launches)},
                 {"gaps_ms",
                  {{"within", distribution_json(profile.gaps.within)},
                   {"waiting", distribution_json(profile.gaps.waiting)},
                   {"between", distribution_json(profile.gaps.between)}}},
                 {"histogram", shape_json(shape_of(profile.latency, kShapeBins))},
                 {"overhead", overhead_json(profile.overhead)},
                 {"launches_beyond_bound", launches_beyond_bound(profile)},
                 {"bottleneck",
                  {{"kind", to_string(profile.bottleneck.kind)},
                   {"stage", profile.bottleneck.stage},
                   {"sentence", profile.bottleneck.sentence}}}};
  Json whole;
  add_bound(whole, profile.bounds.whole, headroom(profile.bounds.whole.time, profile.frame_time.p50));
  report["bound"] = whole;
  if (const auto& second = profile.second)
    report["second"] = {
        {"model", second->model}, {"crops", second->crops}, {"launches", launches_json(second->launches)}};
  return report;
}

}  // namespace saccade
