#pragma once

#include <functional>
#include <memory>
#include <saccade/model.hpp>
#include <saccade/pipeline.hpp>
#include <span>
#include <string>

namespace saccade::app {

/// JSON lines about a run at work: one a second into a file (--telemetry), and a snapshot at SIGUSR1.
class TelemetryWriter {
 public:
  /// Prints a line of JSON.
  using Print = std::function<void(const std::string& line)>;

  /// For a run of MODELS. Writes to FILE, "-" for standard output; an empty FILE writes nothing. PRINT gets the
  /// snapshots. Throws Error.
  TelemetryWriter(const std::string& file, std::span<const Model> models, Print print);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  /// Writes the next line if it is time, and a snapshot if one is requested. Throws Error if the line cannot be
  /// written.
  void update(Pipeline& pipeline);
  /// Completes the file. Throws Error.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
