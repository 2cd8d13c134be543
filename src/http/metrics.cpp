#include "http/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <utility>

#include "http/families.hpp"
#include "measure/live/run_state.hpp"

// The names and units follow Prometheus' conventions: base units, _total for counters, ratios from 0 to 1, the names of
// its client libraries for the process. A stream is labelled by its number, because two sources can have the same name;
// saccade_stream_info has the name.
namespace saccade::http {
namespace {

void add_ledger(Family& frames, const std::string& stream, const Ledger& ledger) {
  const std::pair<const char*, std::int64_t> outcomes[] = {{"processed", ledger.processed},
                                                           {"skipped", ledger.skipped},
                                                           {"queue_full", ledger.queue_full},
                                                           {"no_buffer", ledger.no_buffer},
                                                           {"decoder_behind", ledger.decoder_behind},
                                                           {"stopped", ledger.stopped},
                                                           {"failed", ledger.failed},
                                                           {"corrupt", ledger.corrupt},
                                                           {"lost", ledger.lost}};
  for (const auto& [outcome, count] : outcomes)
    frames.add({{"stream", stream}, {"outcome", outcome}}, static_cast<double>(count));
}

/// By the names that the summary has.
void add_faults(Family& family, const std::string& stream, const SourceFaults& faults) {
  const std::array<std::pair<const char*, std::int64_t>, 5> kinds = {
      {{"unplugged", faults.unplugged},
       {"restarts", faults.restarts},
       {"format_changes", faults.format_changes},
       {"refused_buffers", faults.refused_buffers},
       {"replaced_timestamps", faults.replaced_timestamps}}};
  for (const auto& [kind, count] : kinds) family.add({{"stream", stream}, {"fault", kind}}, static_cast<double>(count));
}

void add_summary(Families& families, const Summary& summary) {
  Family& info = families.gauge("saccade_stream_info", "The source of each stream; the value is 1.");
  Family& running =
      families.gauge("saccade_stream_running",
                     "Whether the source delivers frames: 0 in an outage, and once it has ended or is lost.");
  Family& captured = families.counter("saccade_frames_captured_total", "Frames that the source produced.");
  Family& frames = families.counter("saccade_frames_total", "Frames by what became of them.");
  Family& queue = families.gauge("saccade_queue_frames", "Frames that wait in the queue.");
  Family& late = families.counter("saccade_late_results_total",
                                  "Results of a live source that took longer than the period of its frames.");
  Family& outages = families.counter("saccade_outages_total", "Times in which the source delivered no frames.");
  Family& away = families.counter("saccade_outage_seconds_total", "Duration of the outages of the source.");
  Family& faults = families.counter("saccade_source_faults_total", "Faults of the source's device, by kind.");
  Family& latency = families.histogram("saccade_latency_seconds", "Latencies of the results by stage.");
  for (std::size_t i = 0; i < summary.streams.size(); ++i) {
    const StreamSummary& each = summary.streams[i];
    const std::string stream = std::to_string(i);
    info.add({{"stream", stream}, {"source", each.source}}, 1);
    running.add({{"stream", stream}}, each.state == StreamState::kRunning ? 1 : 0);
    captured.add({{"stream", stream}}, static_cast<double>(each.ledger.captured));
    add_ledger(frames, stream, each.ledger);
    queue.add({{"stream", stream}}, static_cast<double>(each.queued));
    late.add({{"stream", stream}}, each.late);
    outages.add({{"stream", stream}}, static_cast<double>(each.outages.count));
    away.add({{"stream", stream}}, seconds(each.outages.duration));
    add_faults(faults, stream, each.faults);
    for (const StageSummary& stage : each.stages) latency.add({{"stream", stream}, {"stage", stage.name}}, stage.time);
  }
  families.counter("saccade_invalid_results_total", "Results whose numbers are invalid.")
      .add({}, static_cast<double>(summary.invalid));
}

void add_sinks(Families& families, const std::vector<SinkSummary>& sinks) {
  Family& results =
      families.counter("saccade_sink_results_total", "Results that a sink received, by what became of them.");
  Family& time = families.histogram("saccade_sink_seconds", "Time that a sink takes to write a result.");
  std::map<std::string, int> names;
  for (const SinkSummary& each : sinks) {
    // Several sinks can write to /dev/null, and labels must differ.
    const int count = ++names[each.name];
    const std::string sink = count == 1 ? each.name : fmt::format("{} #{}", each.name, count);
    results.add({{"sink", sink}, {"outcome", "written"}}, static_cast<double>(each.written));
    results.add({{"sink", sink}, {"outcome", "dropped"}}, static_cast<double>(each.dropped));
    results.add({{"sink", sink}, {"outcome", "failed"}}, static_cast<double>(each.failed));
    time.add({{"sink", sink}}, each.time);
  }
}

/// The counts of ZONE by class name, which several classes can have.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts_by_name(const ZoneSummary& zone) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
  for (const ZoneClassCount& each : zone.classes) {
    auto& [in, out] = counts[each.class_name.empty() ? fmt::format("class {}", each.class_id) : each.class_name];
    in += each.in;
    out += each.out;
  }
  return counts;
}

void add_zones(Families& families, const Summary& summary) {
  Family& crossings = families.counter("saccade_zone_crossings_total", "Tracked objects that crossed a line.");
  Family& visits = families.counter("saccade_zone_visits_total", "Tracked objects that entered or left an area.");
  Family& occupancy = families.gauge("saccade_zone_occupancy", "Tracked objects in an area.");
  Family& dwell = families.histogram("saccade_zone_dwell_seconds", "Stays in an area, of objects that have left it.");
  for (const ZoneSummary& each : summary.zones) {
    const bool is_line = each.kind == ZoneKind::kLine;
    Labels labels = {{"zone", each.name}, {"stream", std::to_string(each.stream)}};
    // By its number: two models can have the same name.
    if (summary.models.size() > 1) labels.push_back({"model", std::to_string(each.model)});
    const auto with = [&](const char* direction, const std::string& name) {
      Labels more = labels;
      more.push_back({"direction", direction});
      more.push_back({"class", name});
      return more;
    };
    for (const auto& [name, counts] : counts_by_name(each)) {
      Family& family = is_line ? crossings : visits;
      family.add(with(is_line ? "in" : "enter", name), static_cast<double>(counts.first));
      family.add(with(is_line ? "out" : "leave", name), static_cast<double>(counts.second));
    }
    if (is_line) continue;
    occupancy.add(labels, static_cast<double>(each.inside));
    dwell.add(labels, each.dwell);
  }
}

}  // namespace

HttpReply metrics(const RunState& state) {
  Families families;
  if (state.summary) add_summary(families, *state.summary);
  if (state.summary) add_sinks(families, state.summary->sinks);
  if (state.summary) add_zones(families, *state.summary);
  families.add_machine(state.process, state.gpus);
  return families.reply();
}

}  // namespace saccade::http
