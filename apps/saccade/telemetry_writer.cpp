#include "telemetry_writer.hpp"

#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "base/output_file.hpp"
#include "measure/bench/process_memory.hpp"

namespace saccade::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kPeriod{1};

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
  explicit State(const std::string& path) : file(path, OutputFile::Appears::kAtOnce) {}

  Json process(double wall) {
    const double now = processor_seconds();
    const double used = now - std::exchange(processor, now);
    const ProcessSize size = process_size();
    return {{"cpu", used / wall}, {"rss_bytes", size.resident_bytes}, {"threads", size.threads}};
  }

  OutputFile file;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  double processor = processor_seconds();
};

TelemetryWriter::TelemetryWriter(const std::string& file) {
  if (!file.empty()) state_ = std::make_unique<State>(file);
}

TelemetryWriter::~TelemetryWriter() = default;

void TelemetryWriter::update(Pipeline& pipeline) {
  if (state_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - state_->last < kPeriod) return;
  const double wall = std::chrono::duration<double>(now - std::exchange(state_->last, now)).count();
  Json line = Json::parse(to_json(pipeline.telemetry()));
  line["process"] = state_->process(wall);
  state_->file.write(line.dump() + '\n');
  state_->file.flush();
}

void TelemetryWriter::close() {
  if (state_ != nullptr) state_->file.close();
}

}  // namespace saccade::app
