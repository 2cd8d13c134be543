#pragma once

#include <functional>
#include <memory>
#include <saccade/model.hpp>
#include <saccade/pipeline.hpp>
#include <span>
#include <string>

#include "telemetry_file.hpp"

namespace saccade::app {

/// JSON lines about a run at work: one a second into a file (--telemetry), and a snapshot at SIGUSR1.
class TelemetryWriter {
 public:
  /// Prints a line of JSON.
  using Print = std::function<void(const std::string& line)>;

  /// For a run of MODELS on DEVICES (PipelineOptions::devices). With an empty path in FILE, no lines are written. PRINT
  /// gets the snapshots. Throws Error.
  TelemetryWriter(const TelemetryFile::Options& file, std::span<const Model> models, std::span<const Device> devices,
                  Print print);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  /// Writes the next line if it is time, and a snapshot if one is requested. Does not wait for the file.
  void update(Pipeline& pipeline);
  /// Whether an error has ended the file.
  bool has_ended() const noexcept;
  /// Completes the file. Returns the first fault; empty: none.
  std::string close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
