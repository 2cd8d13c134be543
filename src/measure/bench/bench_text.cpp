#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "measure/bench/bench_report.hpp"
#include "measure/statistics/units.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

/// MODEL with what distinguishes it from others of the same name.
std::string label(const BenchedModel& model) { return model.name; }

void add_row(ReportText& out, std::string_view name, const Distribution& time) {
  out.add("  {:<7}", name);
  for (std::chrono::nanoseconds each : {time.min, time.p50, time.p90, time.p95, time.p99, time.max, time.mean})
    out.add(" {:>8.3f}", to_milliseconds(each));
  out.add(" {:>7.3f}\n", to_milliseconds(time.deviation));
}

void add_slow_runs(ReportText& out, const SlowRuns& slow) {
  constexpr std::size_t kPerLine = 4;
  if (slow.count == 0) return;
  out.add("  {} run{} took more than {} medians; the slowest, ms:", slow.count, slow.count == 1 ? "" : "s",
          SlowRuns::kSlow);
  for (std::size_t i = 0; i < slow.slowest.size(); ++i) {
    if (i % kPerLine == 0) out.add("\n  ");
    out.add("  {:.3f} (run {})", to_milliseconds(slow.slowest[i].time), slow.slowest[i].number);
  }
  out.add("\n");
}

void add_model(ReportText& out, const BenchReport& report, const BenchedModel& model) {
  const EngineTimes& own = model.own;
  out.add("{} ({}): {}; {} thread{}{}\n", model.file, model.precision, model.covers, model.threads,
          model.threads == 1 ? "" : "s",
          report.streams == 1 ? "" : fmt::format(", {} concurrent streams", report.streams));
  out.add("  {} runs in {} blocks and {} load{}, after {} warm-up runs\n", own.latency.count,
          flattened(own.block_medians_ms).size(), own.block_medians_ms.size(),
          own.block_medians_ms.size() == 1 ? "" : "s", own.warm_up);
  out.add("  {:<7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7}\n", "ms", "min", "p50", "p90", "p95", "p99", "max",
          "mean", "std");
  add_row(out, "latency", own.latency);
  for (const StageSummary& stage : model.stages) add_row(out, stage.name, stage.time);
  add_slow_runs(out, own.slow);
  out.add("  median, 95 % interval: {:.3f} to {:.3f} ms\n", own.median_ms.interval.low, own.median_ms.interval.high);
  out.add("  throughput {:.1f} {} per second\n", own.throughput, model.takes_frames ? "frames" : "inferences");
  out.add("  memory {} peak{}, arena {} per stream\n", megabytes(own.peak_bytes),
          model.peak_is_own ? "" : " of the process so far", megabytes(static_cast<std::int64_t>(model.arena_bytes)));
  for (const PeerTimes& peer : model.peers) {
    if (!peer.failure.empty())
      out.add("  {} {}: not measured: {}\n", peer.times.engine, peer.times.version, peer.failure);
    else
      out.add("  {} {}: p50 {:.3f} ms, {} runs, drift of our outputs {:.1e}{}\n", peer.times.engine, peer.times.version,
              to_milliseconds(peer.times.latency.p50), peer.times.latency.count, peer.drift,
              peer.agrees ? "" : fmt::format(": they DISAGREE (limit {:.0e})", model.drift_limit));
  }
  out.add("\n");
}

std::string ratio_text(const Estimate& ratio) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio.value, ratio.interval.low, ratio.interval.high);
}

void add_table(ReportText& out, const BenchReport& report) {
  std::size_t width = 14;
  for (const BenchedModel& model : report.models) width = std::max(width, label(model).size());
  out.add("{:<{}} {:>12}", "median, ms", width, "saccade");
  for (const std::string& peer : report.peers) out.add(" {:>12}", peer);
  out.add("  ours / best peer (below 1: ours is faster)\n");
  for (const BenchedModel& model : report.models) {
    out.add("{:<{}} {:>12.3f}", label(model), width, to_milliseconds(model.own.latency.p50));
    for (const PeerTimes& peer : model.peers)
      out.add(" {:>12}",
              peer.failure.empty() ? fmt::format("{:.3f}", to_milliseconds(peer.times.latency.p50)) : "failed");
    const PeerTimes* best = model.best_peer();
    out.add("  {}{}\n", best != nullptr ? ratio_text(best->ratio) : "-", model.agrees() ? "" : "  outputs disagree");
  }
  const auto add_mean = [&](std::string_view what, std::string_view engine) {
    if (const auto mean = geometric_mean(report.models, engine))
      out.add("geometric mean, ours / {}: {}\n", what, ratio_text(*mean));
  };
  add_mean("best peer", "");
  for (const std::string& peer : report.peers) add_mean(peer, peer);
}

}  // namespace

ReportText to_text(const BenchReport& report) {
  ReportText out;
  const std::string with = report.libraries.empty() ? "" : " with " + report.libraries;
  out.add("saccade {}{} on {}, {} cores\n\n", version(), with, report.device, report.cores);
  for (const BenchedModel& model : report.models) add_model(out, report, model);
  if (!report.peers.empty()) add_table(out, report);
  return out;
}

}  // namespace saccade
