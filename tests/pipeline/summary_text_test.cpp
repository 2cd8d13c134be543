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
  expect_part(text, "b \"quoted\": 1 results written + 2 dropped (too slow) + 4 failed; full");
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

}  // namespace
}  // namespace saccade
