#include <gtest/gtest.h>

#include "saccade/summary.hpp"
#include "saccade/telemetry.hpp"

namespace saccade {
namespace {

using std::chrono::milliseconds;

Summary eventful() {
  Summary summary;
  StreamSummary stream{.source = "camera", .ledger = {.captured = 10, .processed = 7, .no_buffer = 3}};
  stream.outages = {.count = 1,
                    .duration = milliseconds(1500),
                    .missed = 44,
                    .latest = {{.start = milliseconds(2000), .duration = milliseconds(1500), .missed = 44}}};
  stream.stages = {{"capture", {.count = 7}}};
  summary.streams = {stream};
  summary.ledger = stream.ledger;
  summary.stages = stream.stages;
  summary.sinks = {{.name = "a.jsonl", .written = 7},
                   {.name = "b \"quoted\"", .written = 1, .dropped = 2, .failed = 4, .fault = "full"}};
  return summary;
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST(SummaryText, CountsOneFrameInTheSingular) {
  Summary summary;
  EXPECT_NE(to_text(summary).find("0 frames in "), std::string::npos);
  summary.ledger.processed = 1;
  EXPECT_NE(to_text(summary).find("1 frame in "), std::string::npos);
}

TEST(SummaryText, TellsOfOutagesAndSinks) {
  const std::string text = to_text(eventful());
  expect_part(text,
              "camera: 10 captured = 7 processed + 3 dropped (no buffer); 1 outage of 1.5 s in all, 44 frames missed");
  expect_part(text, "b \"quoted\": 1 results written + 2 dropped (queue full) + 4 failed; full");
  EXPECT_EQ(text.find("a.jsonl"), std::string::npos) << "nothing happened to it";
}

TEST(SummaryText, TellsOfTheFaultsOfADevice) {
  Summary summary = eventful();
  EXPECT_EQ(to_text(summary).find("unplugged"), std::string::npos) << "none";
  expect_part(to_json(summary), R"("faults":{"unplugged":0,"restarts":0,"format_changes":0,"refused_buffers":0,)");
  summary.streams[0].faults = {
      .unplugged = 1, .restarts = 2, .format_changes = 3, .refused_buffers = 4, .replaced_timestamps = 5};
  expect_part(to_text(summary),
              "44 frames missed; unplugged 1 time; stream restarted 2 times; format changed 3 times; buffer refused by "
              "the driver 4 times; timestamp replaced 5 times\n");
  expect_part(to_json(summary), R"(]},"faults":{"unplugged":1,"restarts":2,"format_changes":3,"refused_buffers":4,)"
                                R"("replaced_timestamps":5})");
}

TEST(SummaryText, HasTheSameInJson) {
  const std::string json = to_json(eventful());
  expect_part(json, R"("dropped":{"queue_full":0,"no_buffer":3,"decoder_behind":0,"stopped":0,"failed":0})");
  expect_part(json, R"("outages":{"count":1,"seconds":1.500,"missed":44,"latest":[{"start_s":2.000,"seconds":1.500,)");
  expect_part(json, R"({"sink":"a.jsonl","written":7,"dropped":0,"failed":0,"state":"running","write_ms":{)");
  expect_part(json, R"({"sink":"b \"quoted\"","written":1,"dropped":2,"failed":4,)");
  expect_part(json, R"("fault":"full"})");
  expect_part(json, R"("latency_ms":{"sensor":null,"capture":{"count":7)");
}

TEST(SummaryText, TelemetryHasTheStateOfSinks) {
  Telemetry telemetry;
  telemetry.sinks = {{.name = "a", .written = 1, .queued = 2}, {.name = "b", .failing = true, .failed = 3}};
  telemetry.streams = {{.source = "camera", .state = StreamState::kConnecting}};
  const std::string json = to_json(telemetry);
  expect_part(json, R"("state":"connecting")");
  expect_part(json, R"({"sink":"a","written":1,"dropped":0,"failed":0,"state":"running","queue":2})");
  expect_part(json, R"({"sink":"b","written":0,"dropped":0,"failed":3,"state":"failing","queue":0}])");
}

Summary with_zones() {
  Summary summary = eventful();
  summary.models = {"net"};
  ZoneSummary line{.name = "door", .in = 3, .out = 1};
  line.classes = {{.class_id = 0, .class_name = "person", .in = 2, .out = 1}, {.class_id = 7, .in = 1}};
  ZoneSummary area{.name = "queue", .kind = ZoneKind::kArea, .in = 3, .out = 2, .inside = 1};
  area.classes = {{.class_id = 0, .class_name = "person", .in = 3, .out = 2}};
  area.dwell.add(milliseconds(1500));
  area.dwell.add(milliseconds(60'000));
  summary.zones = {line, area};
  return summary;
}

TEST(SummaryText, HasTheCountsOfZones) {
  EXPECT_EQ(to_json(eventful()).find("zones"), std::string::npos) << "none";
  const std::string json = to_json(with_zones());
  expect_part(json, R"("zones":[{"zone":"door","kind":"line","stream":0,"model":0,"in":3,"out":1,"classes":[)"
                    R"({"class_id":0,"class":"person","in":2,"out":1},{"class_id":7,"class":"","in":1,"out":0}]},)");
  expect_part(json, R"({"zone":"queue","kind":"area","stream":0,"model":0,"enter":3,"leave":2,"occupancy":1,)"
                    R"("classes":[{"class_id":0,"class":"person","enter":3,"leave":2}],)"
                    R"("dwell_s":{"count":2,"mean":30.750,"max":60.000,"at_most":{"1":0,"2":1,"5":1,"10":1,"20":1,)"
                    R"("30":1,"60":2,"120":2,"300":2,"600":2,"1800":2,"3600":2}}}],"invalid":0,)");
  const std::string text = to_text(with_zones());
  expect_part(text, "\nline door: 3 in, 1 out (person 2 in, 1 out; class 7 1 in, 0 out)\n");
  expect_part(text,
              "\narea queue: 3 entered, 2 left, 1 inside (person 3 entered, 2 left); stay 30.8 s on average, 60.0 s at "
              "most\n");
}

TEST(SummaryText, NamesTheStreamAndTheModelOfAZoneAmongSeveral) {
  Summary summary = with_zones();
  summary.streams.push_back({.source = "second"});
  summary.models.emplace_back("other");
  summary.zones[0].stream = 1;
  summary.zones[0].model = 1;
  expect_part(to_text(summary), "\nline door of second by other: 3 in");
}

TEST(SummaryText, TelemetryHasTheCountsOfZones) {
  Telemetry telemetry;
  EXPECT_EQ(to_json(telemetry).find("zones"), std::string::npos);
  telemetry.zones = {{.name = "door", .stream = 2, .in = 1}};
  expect_part(
      to_json(telemetry),
      R"("sinks":[],"zones":[{"zone":"door","kind":"line","stream":2,"model":0,"in":1,"out":0,"classes":[]}]})");
}

}  // namespace
}  // namespace saccade
