#include "saccade/summary.hpp"
#include "saccade/telemetry.hpp"

#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/report_text.hpp"
#include "pipeline/sinks/json_text.hpp"
#include "pipeline/sinks/ledger_json.hpp"

namespace saccade {
namespace {

void append_distribution(JsonBuffer& out, const Distribution& time) {
  append(out,
         R"({{"count":{},"min":{:.4f},"mean":{:.4f},"std":{:.4f},"p50":{:.4f},"p90":{:.4f},"p95":{:.4f},"p99":{:.4f},)"
         R"("p99.9":{:.4f},"max":{:.4f}}})",
         time.count, to_milliseconds(time.min), to_milliseconds(time.mean), to_milliseconds(time.deviation),
         to_milliseconds(time.p50), to_milliseconds(time.p90), to_milliseconds(time.p95), to_milliseconds(time.p99),
         to_milliseconds(time.p999), to_milliseconds(time.max));
}

void append_stages(JsonBuffer& out, std::span<const StageSummary> stages) {
  append(out, R"("latency_ms":{{)");
  if (stages.empty() || stages.front().name != "sensor") append(out, R"("sensor":null{})", stages.empty() ? "" : ",");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    append(out, R"({}"{}":)", i == 0 ? "" : ",", stages[i].name);
    append_distribution(out, stages[i].time);
  }
  append(out, "}}");
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void append_outages(JsonBuffer& out, const Outages& outages) {
  append(out, R"(,"outages":{{"count":{},"seconds":{:.3f},"missed":{},"latest":[)", outages.count,
         seconds(outages.duration), outages.missed);
  for (const Outage& outage : outages.latest)
    append(out, R"({}{{"start_s":{:.3f},"seconds":{:.3f},"missed":{}}})", &outage == outages.latest.data() ? "" : ",",
           seconds(outage.start), seconds(outage.duration), outage.missed);
  append(out, "]}}");
}

/// Calls ACT with the JSON field, the count and the words of each of FAULTS.
template <typename F>
void for_each(const SourceFaults& faults, const F& act) {
  act("unplugged", faults.unplugged, "unplugged");
  act("restarts", faults.restarts, "stream restarted");
  act("format_changes", faults.format_changes, "format changed");
  act("refused_buffers", faults.refused_buffers, "buffer refused by the driver");
  act("replaced_timestamps", faults.replaced_timestamps, "timestamp replaced");
}

void append_faults(JsonBuffer& out, const SourceFaults& faults) {
  append(out, R"(,"faults":{{)");
  const char* comma = "";
  for_each(faults, [&](std::string_view field, std::int64_t count, std::string_view) {
    append(out, R"({}"{}":{})", std::exchange(comma, ","), field, count);
  });
  append(out, "}}");
}

template <typename S>
std::string_view state_of(const S& sink) {
  return sink.failing ? "failing" : "running";
}

/// "name", "written", "dropped" and "failed" of a SinkSummary or a SinkTelemetry.
template <typename S>
void append_sink_counts(JsonBuffer& out, const S& sink) {
  append(out, R"({{"sink":)");
  append_json_string(out, sink.name);
  append(out, R"(,"written":{},"dropped":{},"failed":{})", sink.written, sink.dropped, sink.failed);
}

void append_sink(JsonBuffer& out, const SinkSummary& sink) {
  append_sink_counts(out, sink);
  append(out, R"(,"state":"{}","write_ms":)", state_of(sink));
  append_distribution(out, sink.time);
  if (!sink.fault.empty()) {
    append(out, R"(,"fault":)");
    append_json_string(out, sink.fault);
  }
  append(out, "}}");
}

void append_stream(JsonBuffer& out, std::size_t index, const StreamSummary& stream) {
  append(out, R"({{"stream":{},"source":)", index);
  append_json_string(out, stream.source);
  if (stream.device) append(out, R"(,"device":"{}")", to_string(*stream.device));
  append(out, R"(,"ledger":)");
  append_ledger(out, stream.ledger);
  append(out, R"(,"frames_per_second":{:.3f},"late":)", stream.rate);
  stream.late ? append(out, "{},", *stream.late) : append(out, "null,");
  append_stages(out, stream.stages);
  append_outages(out, stream.outages);
  append_faults(out, stream.faults);
  if (!stream.fault.empty()) {
    append(out, R"(,"fault":)");
    append_json_string(out, stream.fault);
  }
  append(out, "}}");
}

/// ,"NAME":IN,"NAME":OUT
template <typename C>
void append_in_out(JsonBuffer& out, ZoneKind kind, const C& counts) {
  const bool is_line = kind == ZoneKind::kLine;
  append(out, R"(,"{}":{},"{}":{})", is_line ? "in" : "enter", counts.in, is_line ? "out" : "leave", counts.out);
}

void append_dwell(JsonBuffer& out, const DwellTimes& dwell) {
  append(out, R"(,"dwell_s":{{"count":{},"mean":{:.3f},"max":{:.3f},"at_most":{{)", dwell.count, seconds(dwell.mean()),
         seconds(dwell.max));
  for (std::size_t i = 0; i < kDwellBounds.size(); ++i)
    append(out, R"({}"{}":{})", i == 0 ? "" : ",", kDwellBounds[i].count(), dwell.at_most[i]);
  append(out, "}}}}");
}

/// {"zone":...}
void append_zone(JsonBuffer& out, const ZoneSummary& zone) {
  append(out, R"({{"zone":)");
  append_json_string(out, zone.name);
  append(out, R"(,"kind":"{}","stream":{},"model":{})", to_string(zone.kind), zone.stream, zone.model);
  append_in_out(out, zone.kind, zone);
  if (zone.kind == ZoneKind::kArea) append(out, R"(,"occupancy":{})", zone.inside);
  append(out, R"(,"classes":[)");
  for (const ZoneClassCount& each : zone.classes) {
    append(out, R"({}{{"class_id":{},"class":)", &each == zone.classes.data() ? "" : ",", each.class_id);
    append_json_string(out, each.class_name);
    append_in_out(out, zone.kind, each);
    append(out, "}}");
  }
  append(out, "]");
  if (zone.kind == ZoneKind::kArea) append_dwell(out, zone.dwell);
  append(out, "}}");
}

/// ,"zones":[...] if there are any
void append_zones(JsonBuffer& out, std::span<const ZoneSummary> zones) {
  if (zones.empty()) return;
  append(out, R"(,"zones":[)");
  for (const ZoneSummary& zone : zones) {
    if (&zone != zones.data()) append(out, ",");
    append_zone(out, zone);
  }
  append(out, "]");
}

/// "line door: 3 in, 1 out (person 2, 1; car 1, 0)"
ReportText text_of(const ZoneSummary& zone, const Summary& summary) {
  const bool is_line = zone.kind == ZoneKind::kLine;
  ReportText text = report_text("{} {}", to_string(zone.kind), zone.name);
  if (summary.streams.size() > 1) text += report_text(" of {}", summary.streams.at(zone.stream).source);
  if (summary.models.size() > 1) text += report_text(" by {}", summary.models.at(zone.model));
  const std::string_view in = is_line ? "in" : "entered";
  const std::string_view out = is_line ? "out" : "left";
  text += report_text(": {} {}, {} {}", zone.in, in, zone.out, out);
  if (!is_line) text += report_text(", {} inside", zone.inside);
  for (std::size_t i = 0; i < zone.classes.size(); ++i) {
    const ZoneClassCount& each = zone.classes[i];
    const std::string name = each.class_name.empty() ? fmt::format("class {}", each.class_id) : each.class_name;
    text += report_text("{}{} {} {}, {} {}", i == 0 ? " (" : "; ", name, each.in, in, each.out, out);
  }
  if (!zone.classes.empty()) text += ")";
  if (zone.dwell.count > 0)
    text += report_text("; stay {:.1f} s on average, {:.1f} s at most", seconds(zone.dwell.mean()),
                        seconds(zone.dwell.max));
  text += "\n";
  return text;
}

/// " + 3 dropped (queue full)", for every nonzero counter.
std::string losses(const Ledger& ledger) {
  std::string text;
  const auto add = [&text](std::int64_t count, std::string_view what) {
    if (count != 0) text += fmt::format(" + {} {}", count, what);
  };
  add(ledger.skipped, "skipped");
  add(ledger.queue_full, "dropped (queue full)");
  add(ledger.no_buffer, "dropped (no buffer)");
  add(ledger.decoder_behind, "dropped (decoder behind)");
  add(ledger.stopped, "dropped (stopped)");
  add(ledger.failed, "dropped (model failed)");
  add(ledger.corrupt, "corrupt");
  add(ledger.lost, "lost by the source");
  return text;
}

}  // namespace

Ledger& Ledger::operator+=(const Ledger& other) {
  captured += other.captured;
  processed += other.processed;
  skipped += other.skipped;
  queue_full += other.queue_full;
  no_buffer += other.no_buffer;
  decoder_behind += other.decoder_behind;
  stopped += other.stopped;
  failed += other.failed;
  corrupt += other.corrupt;
  lost += other.lost;
  return *this;
}

std::string to_json(const Summary& summary) {
  JsonBuffer out;
  append(out, R"({{"event":"summary","elapsed_s":{:.6f},"frames_per_second":{:.3f},"ledger":)",
         to_milliseconds(summary.elapsed) / 1e3, summary.frames_per_second);
  append_ledger(out, summary.ledger);
  append(out, R"(,"streams":[)");
  for (std::size_t i = 0; i < summary.streams.size(); ++i) {
    if (i != 0) append(out, ",");
    append_stream(out, i, summary.streams[i]);
  }
  append(out, R"(],"models":[)");
  for (std::size_t i = 0; i < summary.models.size(); ++i) {
    if (i != 0) append(out, ",");
    append_json_string(out, summary.models[i]);
  }
  append(out, R"(],"sinks":[)");
  for (std::size_t i = 0; i < summary.sinks.size(); ++i) {
    if (i != 0) append(out, ",");
    append_sink(out, summary.sinks[i]);
  }
  append(out, "]");
  append_zones(out, summary.zones);
  append(out, R"(,"invalid":{},)", summary.invalid);
  append_stages(out, summary.stages);
  if (summary.batch > 1) append(out, R"(,"batch":{:.2f})", summary.batch);
  append(out, R"(,"bottleneck":)");
  append_json_string(out, summary.bottleneck);
  append(out, "}}");
  return fmt::to_string(out);
}

std::string to_json(const Telemetry& telemetry) {
  JsonBuffer out;
  append(out, R"({{"event":"telemetry","elapsed_s":{:.6f},"streams":[)", to_milliseconds(telemetry.elapsed) / 1e3);
  for (std::size_t i = 0; i < telemetry.streams.size(); ++i) {
    const StreamTelemetry& stream = telemetry.streams[i];
    append(out, R"({}{{"stream":{},"source":)", i == 0 ? "" : ",", i);
    append_json_string(out, stream.source);
    append(out, R"(,"state":"{}","rate":{:.3f},"ledger":)", to_string(stream.state), stream.rate);
    append_ledger(out, stream.ledger);
    append(out, ",");
    append_stages(out, stream.stages);
    append(out, R"(,"queue":{}}})", stream.queued);
  }
  append(out, R"(],"sinks":[)");
  for (const SinkTelemetry& sink : telemetry.sinks) {
    if (&sink != telemetry.sinks.data()) append(out, ",");
    append_sink_counts(out, sink);
    append(out, R"(,"state":"{}","queue":{}}})", state_of(sink), sink.queued);
  }
  append(out, "]");
  append_zones(out, telemetry.zones);
  append(out, "}}");
  return fmt::to_string(out);
}

std::string to_text(const Summary& summary) {
  ReportText text;
  for (const StreamSummary& stream : summary.streams) {
    const Ledger& ledger = stream.ledger;
    text += report_text("{}{}: {} captured = {} processed{}", stream.source,
                        stream.device ? " on " + to_string(*stream.device) : "", ledger.captured, ledger.processed,
                        losses(ledger));
    if (ledger.in_flight() != 0) text += report_text(" + {} unaccounted for", ledger.in_flight());
    if (stream.late.value_or(0) != 0) text += report_text("; {} later than a frame period", *stream.late);
    if (const Outages& outages = stream.outages; outages.count != 0)
      text += report_text("; {} outage{} of {:.1f} s in all, {} frames missed", outages.count,
                          outages.count == 1 ? "" : "s", seconds(outages.duration), outages.missed);
    for_each(stream.faults, [&text](std::string_view, std::int64_t count, std::string_view what) {
      if (count != 0) text += report_text("; {} {} time{}", what, count, count == 1 ? "" : "s");
    });
    if (!stream.fault.empty()) text += report_text("; lost: {}", stream.fault);
    text += "\n";
  }
  for (const SinkSummary& sink : summary.sinks) {
    if (sink.dropped == 0 && sink.failed == 0 && sink.fault.empty()) continue;
    text += report_text("{}: {} results written", sink.name, sink.written);
    if (sink.dropped != 0) text += report_text(" + {} dropped (queue full)", sink.dropped);
    if (sink.failed != 0) text += report_text(" + {} failed", sink.failed);
    if (!sink.fault.empty()) text += report_text("; {}", sink.fault);
    text += "\n";
  }
  for (const ZoneSummary& zone : summary.zones) text += text_of(zone, summary);
  text += report_text("{} frame{} in {:.2f} s: {:.1f} frames/s\n", summary.ledger.processed,
                      summary.ledger.processed == 1 ? "" : "s", to_milliseconds(summary.elapsed) / 1e3,
                      summary.frames_per_second);
  if (summary.invalid != 0)
    text += report_text("{} results are invalid: they contain invalid numbers\n", summary.invalid);
  if (summary.ledger.processed == 0) return text.str();
  text += report_text("{:<10} {:>10} {:>10} {:>10} {:>10} {:>10}  ms\n", "", "mean", "std", "p50", "p99", "max");
  for (const StageSummary& stage : summary.stages)
    text +=
        report_text("{:<10} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f} {:>10.3f}\n", stage.name,
                    to_milliseconds(stage.time.mean), to_milliseconds(stage.time.deviation),
                    to_milliseconds(stage.time.p50), to_milliseconds(stage.time.p99), to_milliseconds(stage.time.max));
  if (summary.batch > 1) text += report_text("{:.2f} frames at once on average\n", summary.batch);
  text += report_text("bottleneck: {}\n", summary.bottleneck);
  return text.str();
}

}  // namespace saccade
