#pragma once

#include <chrono>
#include <memory>
#include <saccade/pipeline.hpp>
#include <string>

namespace saccade::app {

/// Writes a JSON line a second about a run (--telemetry).
class TelemetryWriter {
 public:
  /// To FILE, "-" for standard output; an empty FILE writes nothing. Throws Error.
  explicit TelemetryWriter(const std::string& file);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  /// Writes the next line if it is time. Throws Error if it cannot be written.
  void update(Pipeline& pipeline);
  /// Completes the file. Throws Error.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
