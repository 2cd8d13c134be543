#include "telemetry_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <saccade/printable.hpp>
#include <utility>

#include "interrupt.hpp"
#include "measure/live/run_monitor.hpp"

namespace saccade::app {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPeriod{1};

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const GpuState& gpu) {
  return {{"use", or_null(gpu.use)}, {"memory_bytes", or_null(gpu.memory_bytes)}, {"watts", or_null(gpu.watts)}};
}

/// "gpu", or "gpus" with their devices if there are several.
void add_gpus(Json& line, std::span<const GpuUse> gpus) {
  if (gpus.size() == 1) line["gpu"] = json_of(gpus[0].state);
  if (gpus.size() < 2) return;
  for (const GpuUse& gpu : gpus) {
    Json each = {{"device", to_string(Device::cuda(gpu.ordinal))}};
    each.update(json_of(gpu.state));
    line["gpus"].push_back(std::move(each));
  }
}

}  // namespace

struct TelemetryWriter::State {
  State(const TelemetryFile::Options& options, std::span<const Model> models, std::span<const Device> devices,
        Print printer)
      : monitor(models, devices), print(std::move(printer)) {
    if (!options.path.empty()) file.emplace(options);
  }

  /// Adds what the run uses to LINE. Its "cpu" is that since the processor time BEFORE at the time SINCE.
  void add_use(Json& line, std::chrono::duration<double> before, Clock::time_point since) const {
    const ProcessState process = monitor.process();
    const std::chrono::duration<double> wall = Clock::now() - since;
    line["process"] = {{"cpu", (process.processor_time - before) / wall},
                       {"rss_bytes", process.resident_bytes},
                       {"threads", process.threads}};
    add_gpus(line, monitor.gpus());
  }

  void print_snapshot(const Pipeline& pipeline) const {
    const Summary summary = pipeline.summary();
    Json line = Json::parse(to_json(summary));
    line["event"] = "snapshot";
    for (std::size_t i = 0; i < summary.streams.size(); ++i) {
      line["streams"][i]["state"] = to_string(summary.streams[i].state);
      line["streams"][i]["queue"] = summary.streams[i].queued;
    }
    add_use(line, processor_at_start, start);
    print(printable_json(line.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }

  void write_line(Pipeline& pipeline) {
    Json line = Json::parse(to_json(pipeline.telemetry()));
    add_use(line, processor, last);
    last = Clock::now();
    processor = monitor.process().processor_time;
    file->write(line.dump() + '\n');
  }

  RunMonitor monitor;
  Print print;
  std::optional<TelemetryFile> file;
  Clock::time_point start = Clock::now();
  std::chrono::duration<double> processor_at_start = monitor.process().processor_time;
  Clock::time_point last = start;           ///< line
  Clock::time_point due = start + kPeriod;  ///< the next one
  std::chrono::duration<double> processor = processor_at_start;
};

TelemetryWriter::TelemetryWriter(const TelemetryFile::Options& file, std::span<const Model> models,
                                 std::span<const Device> devices, Print print)
    : state_(std::make_unique<State>(file, models, devices, std::move(print))) {}

TelemetryWriter::~TelemetryWriter() = default;

void TelemetryWriter::update(Pipeline& pipeline) {
  if (take_snapshot_request()) state_->print_snapshot(pipeline);
  const auto now = Clock::now();
  if (!state_->file || state_->file->has_ended() || now < state_->due) return;
  // The line after those that are skipped is about all of their time.
  state_->file->is_ready() ? state_->write_line(pipeline) : state_->file->skip();
  // Lines stay a second apart although each is a little late.
  state_->due = std::max(state_->due + kPeriod, now);
}

bool TelemetryWriter::has_ended() const noexcept { return state_->file && state_->file->has_ended(); }

std::string TelemetryWriter::close() { return state_->file ? state_->file->close() : std::string(); }

}  // namespace saccade::app
