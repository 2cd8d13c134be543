#include "telemetry_writer.hpp"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/output_file.hpp"
#include "measure/bench/process_memory.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPeriod{1};

Json to_json(const Ledger& ledger) {
  return {{"captured", ledger.captured},
          {"processed", ledger.processed},
          {"skipped", ledger.skipped},
          {"dropped", {{"queue_full", ledger.queue_full}, {"stopped", ledger.stopped}, {"failed", ledger.failed}}},
          {"corrupt", ledger.corrupt},
          {"lost", ledger.lost},
          {"in_flight", ledger.in_flight()}};
}

Json to_json(std::span<const StageSummary> stages) {
  Json json = Json::object();
  for (const StageSummary& stage : stages)
    json[stage.name] = {{"count", stage.time.count},
                        {"p50", to_milliseconds(stage.time.p50)},
                        {"p99", to_milliseconds(stage.time.p99)},
                        {"max", to_milliseconds(stage.time.max)}};
  return json;
}

/// Processor time of this process so far, in seconds.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

struct TelemetryWriter::State {
  State(const std::string& path, std::span<const Source> sources) : file(path, OutputFile::Appears::kAtOnce) {
    for (const Source& source : sources) names.push_back(source.info().name);
  }

  Json process(double wall) {
    const double now = processor_seconds();
    const double used = now - std::exchange(processor, now);
    const ProcessSize size = process_size();
    return {{"cpu", used / wall}, {"rss_bytes", size.resident_bytes}, {"threads", size.threads}};
  }

  OutputFile file;
  std::vector<std::string> names;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  double processor = processor_seconds();
};

TelemetryWriter::TelemetryWriter(const std::string& file, std::span<const Source> sources) {
  if (!file.empty()) state_ = std::make_unique<State>(file, sources);
}

TelemetryWriter::~TelemetryWriter() = default;

void TelemetryWriter::update(Pipeline& pipeline) {
  if (state_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - state_->last < kPeriod) return;
  const double wall = std::chrono::duration<double>(now - std::exchange(state_->last, now)).count();
  const Telemetry telemetry = pipeline.telemetry();
  Json streams = Json::array();
  for (std::size_t i = 0; i < telemetry.streams.size(); ++i) {
    const StreamTelemetry& stream = telemetry.streams[i];
    streams.push_back({{"stream", i},
                       {"source", state_->names[i]},
                       {"state", to_string(stream.state)},
                       {"rate", stream.rate},
                       {"ledger", to_json(stream.ledger)},
                       {"latency_ms", to_json(stream.stages)},
                       {"queue", stream.queued}});
  }
  const Json line = {{"event", "telemetry"},
                     {"elapsed_s", std::chrono::duration<double>(telemetry.elapsed).count()},
                     {"streams", streams},
                     {"process", state_->process(wall)}};
  state_->file.write(line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
  state_->file.flush();
}

void TelemetryWriter::close() {
  if (state_ != nullptr) state_->file.close();
}

}  // namespace saccade::app
