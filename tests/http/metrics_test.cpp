#include <gtest/gtest.h>

#include <sstream>

#include "base/http_module.hpp"
#include "base/module.hpp"
#include "measure/live/run_state.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;

std::string text_of(const RunState& state) { return module<HttpModule>("http").metrics(state).body; }

/// The lines of TEXT that begin with NAME.
std::vector<std::string> lines_of(const std::string& text, const std::string& name) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(name)) lines.push_back(line);
  return lines;
}

using Lines = std::vector<std::string>;

Summary one_stream() {
  StreamSummary stream;
  stream.source = "a\"b\\c\nd";
  stream.ledger = {.captured = 39,
                   .processed = 20,
                   .skipped = 1,
                   .queue_full = 2,
                   .no_buffer = 4,
                   .decoder_behind = 5,
                   .stopped = 0,
                   .failed = 3,
                   .corrupt = 1,
                   .lost = 1};
  stream.queued = 2;
  Distribution time{.count = 4, .sum = milliseconds(12'000)};
  time.at_most = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3};
  stream.stages.push_back({"total", time});
  Summary summary;
  summary.streams.push_back(stream);
  return summary;
}

TEST(Metrics, AStreamHasItsLedger) {
  const std::string text = text_of({.summary = one_stream(), .process = {}, .gpus = {}});
  EXPECT_EQ(lines_of(text, "saccade_frames_total{"),
            (Lines{R"(saccade_frames_total{stream="0",outcome="processed"} 20)",
                   R"(saccade_frames_total{stream="0",outcome="skipped"} 1)",
                   R"(saccade_frames_total{stream="0",outcome="queue_full"} 2)",
                   R"(saccade_frames_total{stream="0",outcome="no_buffer"} 4)",
                   R"(saccade_frames_total{stream="0",outcome="decoder_behind"} 5)",
                   R"(saccade_frames_total{stream="0",outcome="stopped"} 0)",
                   R"(saccade_frames_total{stream="0",outcome="failed"} 3)",
                   R"(saccade_frames_total{stream="0",outcome="corrupt"} 1)",
                   R"(saccade_frames_total{stream="0",outcome="lost"} 1)"}));
  EXPECT_EQ(lines_of(text, "saccade_frames_captured_total{"), Lines{R"(saccade_frames_captured_total{stream="0"} 39)"});
  EXPECT_EQ(lines_of(text, "saccade_queue_frames{"), Lines{R"(saccade_queue_frames{stream="0"} 2)"});
  EXPECT_EQ(lines_of(text, "saccade_stream_info{"), Lines{R"(saccade_stream_info{stream="0",source="a\"b\\c\nd"} 1)"});
}

TEST(Metrics, AStreamHasItsOutages) {
  Summary summary = one_stream();
  summary.streams[0].outages = {.count = 2, .duration = milliseconds(2500)};
  const std::string text = text_of({.summary = summary, .process = {}, .gpus = {}});
  EXPECT_EQ(lines_of(text, "saccade_outages_total{"), Lines{R"(saccade_outages_total{stream="0"} 2)"});
  EXPECT_EQ(lines_of(text, "saccade_outage_seconds_total{"), Lines{R"(saccade_outage_seconds_total{stream="0"} 2.5)"});
}

TEST(Metrics, AStreamHasTheFaultsOfItsDevice) {
  Summary summary = one_stream();
  summary.streams[0].faults = {
      .unplugged = 1, .restarts = 2, .format_changes = 3, .refused_buffers = 4, .replaced_timestamps = 5};
  EXPECT_EQ(lines_of(text_of({.summary = summary, .process = {}, .gpus = {}}), "saccade_source_faults_total{"),
            (Lines{R"(saccade_source_faults_total{stream="0",fault="unplugged"} 1)",
                   R"(saccade_source_faults_total{stream="0",fault="restarts"} 2)",
                   R"(saccade_source_faults_total{stream="0",fault="format_changes"} 3)",
                   R"(saccade_source_faults_total{stream="0",fault="refused_buffers"} 4)",
                   R"(saccade_source_faults_total{stream="0",fault="replaced_timestamps"} 5)"}));
}

TEST(Metrics, SinksCountTheirResults) {
  Summary summary;
  summary.sinks.push_back({.name = "out.csv", .written = 7, .dropped = 2, .failed = 1});
  summary.sinks.push_back({.name = "out.csv", .written = 8});
  EXPECT_EQ(lines_of(text_of({.summary = summary, .process = {}, .gpus = {}}), "saccade_sink_results_total{"),
            (Lines{R"(saccade_sink_results_total{sink="out.csv",outcome="written"} 7)",
                   R"(saccade_sink_results_total{sink="out.csv",outcome="dropped"} 2)",
                   R"(saccade_sink_results_total{sink="out.csv",outcome="failed"} 1)",
                   R"(saccade_sink_results_total{sink="out.csv #2",outcome="written"} 8)",
                   R"(saccade_sink_results_total{sink="out.csv #2",outcome="dropped"} 0)",
                   R"(saccade_sink_results_total{sink="out.csv #2",outcome="failed"} 0)"}));
}

TEST(Metrics, LatenciesAreAHistogramInSeconds) {
  const Lines lines =
      lines_of(text_of({.summary = one_stream(), .process = {}, .gpus = {}}), "saccade_latency_seconds");
  const std::string labels = R"(stream="0",stage="total")";
  ASSERT_EQ(lines.size(), kLatencyBounds.size() + 3);
  EXPECT_EQ(lines[0], "saccade_latency_seconds_count{" + labels + "} 4");
  EXPECT_EQ(lines[1], "saccade_latency_seconds_sum{" + labels + "} 12");
  EXPECT_EQ(lines[2], "saccade_latency_seconds_bucket{" + labels + R"(,le="5e-05"} 0)");
  EXPECT_EQ(lines[6], "saccade_latency_seconds_bucket{" + labels + R"(,le="0.001"} 0)");
  EXPECT_EQ(lines[7], "saccade_latency_seconds_bucket{" + labels + R"(,le="0.002"} 1)");
  EXPECT_EQ(lines[15], "saccade_latency_seconds_bucket{" + labels + R"(,le="1"} 1)");
  EXPECT_EQ(lines[16], "saccade_latency_seconds_bucket{" + labels + R"(,le="2"} 3)");
  EXPECT_EQ(lines.back(), "saccade_latency_seconds_bucket{" + labels + R"(,le="+Inf"} 4)");
}

TEST(Metrics, WhatIsUnknownIsAbsent) {
  const std::string without = text_of({.summary = {}, .process = {}, .gpus = {}});
  EXPECT_EQ(without.find("saccade_frames"), std::string::npos);
  EXPECT_EQ(without.find("gpu"), std::string::npos);
  const std::string some = text_of({.summary = {},
                                    .process = {},
                                    .gpus = {{0, {.use = 0.5, .memory_bytes = {}, .watts = {}}},
                                             {1, {.use = 0.25, .memory_bytes = {}, .watts = 71.5}}}});
  EXPECT_EQ(lines_of(some, "saccade_gpu"),
            (Lines{R"(saccade_gpu_use_ratio{gpu="0"} 0.5)", R"(saccade_gpu_use_ratio{gpu="1"} 0.25)",
                   R"(saccade_gpu_power_watts{gpu="1"} 71.5)"}));
}

TEST(Metrics, ZonesCountByClassAndDirection) {
  Summary summary = one_stream();
  ZoneSummary line{.name = "door", .in = 4, .out = 1};
  line.classes = {{.class_id = 0, .class_name = "car", .in = 2, .out = 1},
                  {.class_id = 1, .class_name = "car", .in = 1},
                  {.class_id = 7, .in = 1}};
  ZoneSummary area{.name = "queue", .kind = ZoneKind::kArea, .stream = 1, .in = 3, .out = 2, .inside = 1};
  area.classes = {{.class_id = 0, .class_name = "car", .in = 3, .out = 2}};
  area.dwell.add(milliseconds(1500));
  area.dwell.add(milliseconds(4500));
  summary.zones = {line, area};
  const std::string text = text_of({.summary = summary, .process = {}, .gpus = {}});
  EXPECT_EQ(lines_of(text, "saccade_zone_crossings_total{"),
            (Lines{R"(saccade_zone_crossings_total{zone="door",stream="0",direction="in",class="car"} 3)",
                   R"(saccade_zone_crossings_total{zone="door",stream="0",direction="out",class="car"} 1)",
                   R"(saccade_zone_crossings_total{zone="door",stream="0",direction="in",class="class 7"} 1)",
                   R"(saccade_zone_crossings_total{zone="door",stream="0",direction="out",class="class 7"} 0)"}))
      << "two classes of one name are one series";
  EXPECT_EQ(lines_of(text, "saccade_zone_visits_total{"),
            (Lines{R"(saccade_zone_visits_total{zone="queue",stream="1",direction="enter",class="car"} 3)",
                   R"(saccade_zone_visits_total{zone="queue",stream="1",direction="leave",class="car"} 2)"}));
  EXPECT_EQ(lines_of(text, "saccade_zone_occupancy{"), Lines{R"(saccade_zone_occupancy{zone="queue",stream="1"} 1)"});
  const Lines dwell = lines_of(text, "saccade_zone_dwell_seconds");
  ASSERT_EQ(dwell.size(), kDwellBounds.size() + 3);
  EXPECT_EQ(dwell[0], R"(saccade_zone_dwell_seconds_count{zone="queue",stream="1"} 2)");
  EXPECT_EQ(dwell[1], R"(saccade_zone_dwell_seconds_sum{zone="queue",stream="1"} 6)");
  EXPECT_EQ(dwell[3], R"(saccade_zone_dwell_seconds_bucket{zone="queue",stream="1",le="2"} 1)");
  EXPECT_EQ(dwell[4], R"(saccade_zone_dwell_seconds_bucket{zone="queue",stream="1",le="5"} 2)");
}

TEST(Metrics, ZonesHaveTheirModelAmongSeveral) {
  Summary summary = one_stream();
  summary.models = {"a", "a"};
  summary.zones = {{.name = "queue", .kind = ZoneKind::kArea, .model = 0, .inside = 1},
                   {.name = "queue", .kind = ZoneKind::kArea, .model = 1, .inside = 2}};
  EXPECT_EQ(lines_of(text_of({.summary = summary, .process = {}, .gpus = {}}), "saccade_zone_occupancy{"),
            (Lines{R"(saccade_zone_occupancy{zone="queue",stream="0",model="0"} 1)",
                   R"(saccade_zone_occupancy{zone="queue",stream="0",model="1"} 2)"}));
}

}  // namespace
}  // namespace saccade
