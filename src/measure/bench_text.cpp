#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.hpp"
#include "measure/bench_report.hpp"
#include "measure/units.hpp"
#include "saccade/version.hpp"

namespace saccade {
namespace {

using Text = fmt::memory_buffer;

template <typename... Args>
void add(Text& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string megabytes(std::int64_t bytes) { return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6); }

/// MODEL with what tells it from others of its name.
std::string label(const BenchedModel& model) { return model.name; }

void add_row(Text& out, std::string_view name, const Distribution& time) {
  add(out, "  {:<8}", name);
  for (std::chrono::nanoseconds each :
       {time.min, time.p50, time.p90, time.p95, time.p99, time.max, time.mean, time.deviation})
    add(out, " {:>9.3f}", to_milliseconds(each));
  add(out, "\n");
}

void add_model(Text& out, const BenchReport& report, const BenchedModel& model) {
  const EngineTimes& own = model.own;
  add(out, "{} ({}): {}; {} thread{}{}\n", model.file, model.precision, model.covers, model.threads,
      model.threads == 1 ? "" : "s",
      report.streams == 1 ? "" : fmt::format(", {} streams side by side", report.streams));
  add(out, "  {} runs in {} blocks and {} load{}, after {} to warm up\n", own.latency.count,
      flattened(own.block_medians_ms).size(), own.block_medians_ms.size(), own.block_medians_ms.size() == 1 ? "" : "s",
      own.warm_up);
  add(out, "  {:<8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "ms", "min", "p50", "p90", "p95", "p99", "max",
      "mean", "std");
  add_row(out, "latency", own.latency);
  for (const StageSummary& stage : model.stages) add_row(out, stage.name, stage.time);
  if (own.slow.count != 0) {
    add(out, "  {} runs took more than {} medians; the slowest, ms:", own.slow.count, SlowRuns::kSlow);
    for (const SlowRuns::Run& run : own.slow.slowest)
      add(out, " {:.3f} (run {})", to_milliseconds(run.time), run.number);
    add(out, "\n");
  }
  add(out, "  another run's median: {:.3f} to {:.3f} ms (95 %)\n", own.median_ms.interval.low,
      own.median_ms.interval.high);
  add(out, "  throughput {:.1f} {} a second; memory: {} peak{}, arena {} a stream\n", own.throughput,
      model.takes_frames ? "frames" : "inferences", megabytes(own.peak_bytes),
      model.peak_is_own ? "" : " of the process so far", megabytes(static_cast<std::int64_t>(model.arena_bytes)));
  for (const PeerTimes& peer : model.peers) {
    if (!peer.failure.empty())
      add(out, "  {} {}: no figures: {}\n", peer.times.engine, peer.times.version, peer.failure);
    else
      add(out, "  {} {}: p50 {:.3f} ms, {} runs, drift of our answers {:.1e}{}\n", peer.times.engine,
          peer.times.version, to_milliseconds(peer.times.latency.p50), peer.times.latency.count, peer.drift,
          peer.agrees ? "" : fmt::format(": they DISAGREE (limit {:.0e})", model.drift_limit));
  }
  add(out, "\n");
}

std::string ratio_text(const Estimate& ratio) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", ratio.value, ratio.interval.low, ratio.interval.high);
}

void add_table(Text& out, const BenchReport& report) {
  std::size_t width = 14;
  for (const BenchedModel& model : report.models) width = std::max(width, label(model).size());
  add(out, "{:<{}} {:>12}", "median, ms", width, "saccade");
  for (const std::string& peer : report.peers) add(out, " {:>12}", peer);
  add(out, "  ours / best peer (below 1: ours is faster)\n");
  for (const BenchedModel& model : report.models) {
    add(out, "{:<{}} {:>12.3f}", label(model), width, to_milliseconds(model.own.latency.p50));
    for (const PeerTimes& peer : model.peers)
      add(out, " {:>12}",
          peer.failure.empty() ? fmt::format("{:.3f}", to_milliseconds(peer.times.latency.p50)) : "failed");
    const PeerTimes* best = model.best_peer();
    add(out, "  {}{}\n", best != nullptr ? ratio_text(best->ratio) : "-", model.agrees() ? "" : "  answers disagree");
  }
  const auto add_mean = [&](std::string_view what, std::string_view engine) {
    if (const auto mean = geometric_mean(report.models, engine))
      add(out, "geometric mean, ours / {}: {}\n", what, ratio_text(*mean));
  };
  add_mean("best peer", "");
  for (const std::string& peer : report.peers) add_mean(peer, peer);
}

}  // namespace

std::string to_text(const BenchReport& report) {
  Text out;
  add(out, "saccade {} with {} on {}, {} cores\n\n", version(), report.libraries, report.device, report.cores);
  for (const BenchedModel& model : report.models) add_model(out, report, model);
  if (!report.peers.empty()) add_table(out, report);
  return fmt::to_string(out);
}

}  // namespace saccade
