#pragma once

#include <functional>
#include <memory>
#include <saccade/model.hpp>
#include <saccade/pipeline.hpp>
#include <saccade/rotation.hpp>
#include <span>
#include <string>

namespace saccade::app {

/// JSON lines about a run at work: one a second into a file (--telemetry), and a snapshot at SIGUSR1.
class TelemetryWriter {
 public:
  /// Prints a line of JSON.
  using Print = std::function<void(const std::string& line)>;

  struct File {
    std::string path;  ///< "-" is standard output; empty: nothing is written
    Rotation rotation = {};
    bool retry = false;  ///< after an error, try the next line; close() throws the first error
  };

  /// For a run of MODELS on DEVICES (PipelineOptions::devices). PRINT gets the snapshots. Throws Error.
  TelemetryWriter(const File& file, std::span<const Model> models, std::span<const Device> devices, Print print);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  /// Writes the next line if it is time, and a snapshot if one is requested. Throws Error if the line cannot be
  /// written and is not to be tried again.
  void update(Pipeline& pipeline);
  /// Completes the file. Throws Error.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace saccade::app
