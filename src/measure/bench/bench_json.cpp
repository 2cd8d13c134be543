#include "base/clock.hpp"
#include "measure/bench/bench_report.hpp"
#include "measure/report/report_json.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json to_json(const Estimate& estimate) { return {{"value", estimate.value}, {"interval", to_json(estimate.interval)}}; }

Json slow_json(const EngineTimes& times) {
  Json slowest = Json::array();
  for (const SlowRuns::Run& run : times.slow.slowest)
    slowest.push_back({{"run", run.number}, {"ms", to_milliseconds(run.time)}});
  return {{"above_ms", SlowRuns::kSlow * to_milliseconds(times.latency.p50)},
          {"count", times.slow.count},
          {"slowest", std::move(slowest)}};
}

/// Fields that our and the peers' entries have in common.
void add_times(Json& json, const EngineTimes& times) {
  json["latency_ms"] = distribution_json(times.latency);
  json["slow_runs"] = slow_json(times);
  json["median_interval_ms"] = to_json(times.median_ms.interval);
  json["block_medians_ms"] = times.block_medians_ms;
  json["throughput_per_second"] = times.throughput;
  json["warm_up_runs"] = times.warm_up;
  json["unmeasured_runs_a_block"] = times.unmeasured;
  json["peak_memory_bytes"] = times.peak_bytes;
}

Json to_json(const PeerTimes& peer) {
  Json json = {{"engine", peer.times.engine}, {"version", peer.times.version}};
  if (!peer.failure.empty()) {
    json["failure"] = peer.failure;
    return json;
  }
  add_times(json, peer.times);
  // JSON has no infinity: null means outputs of another shape, or not finite.
  json["drift"] = peer.drift;
  json["agrees"] = peer.agrees;
  json["ratio"] = to_json(peer.ratio);
  return json;
}

Json to_json(const BenchedModel& model) {
  Json json = {{"model", model.name},
               {"file", model.file},
               {"precision", model.precision},
               {"covers", model.covers},
               {"input", model.takes_frames ? "frame" : "tensors"},
               {"threads", model.threads}};
  add_times(json, model.own);
  json["arena_bytes"] = model.arena_bytes;
  json["peak_memory_is_this_model_alone"] = model.peak_is_own;
  for (const StageSummary& stage : model.stages) json["stages_ms"][stage.name] = distribution_json(stage.time);
  if (model.peers.empty()) return json;
  json["agrees"] = model.agrees();
  json["drift_limit"] = model.drift_limit;
  for (const PeerTimes& peer : model.peers) json["against"].push_back(to_json(peer));
  if (const PeerTimes* best = model.best_peer()) {
    json["best_peer"] = best->times.engine;
    json["ratio_to_best_peer"] = to_json(best->ratio);
  }
  return json;
}

Json versions(const BenchReport& report) {
  Json json = {{"saccade", version()}, {"libraries", report.libraries}};
  for (const BenchedModel& model : report.models)
    for (const PeerTimes& peer : model.peers) json[peer.times.engine] = peer.times.version;
  return json;
}

Json geometric_means(const BenchReport& report) {
  Json json = Json::object();
  const auto add = [&](const std::string& name, std::string_view engine) {
    if (const auto mean = geometric_mean(report.models, engine)) json[name] = to_json(*mean);
  };
  add("best_peer", "");
  for (const std::string& peer : report.peers) add(peer, peer);
  return json;
}

}  // namespace

Json to_json(const BenchReport& report) {
  Json json = {{"device", report.device}, {"cores", report.cores}, {"versions", versions(report)}};
  json["settings"] = {{"runs", report.runs},   {"seconds", report.seconds}, {"loads", report.loads},
                      {"batch", report.batch}, {"streams", report.streams}, {"frame", report.frame},
                      {"seed", report.seed},   {"confidence", 0.95},        {"resident", report.resident}};
  json["models"] = Json::array();
  for (const BenchedModel& model : report.models) json["models"].push_back(to_json(model));
  if (!report.peers.empty()) json["geometric_mean_ratio"] = geometric_means(report);
  return json;
}

}  // namespace saccade
