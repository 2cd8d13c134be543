#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "saccade/summary.hpp"

namespace saccade {

/// What a source does.
enum class StreamState : std::uint8_t {
  kRunning,     ///< it is read
  kConnecting,  ///< it delivers no frames: the device is away, or has stalled
  kEnded,       ///< it had no more frames, or reading was stopped
  kLost,        ///< it failed: StreamSummary::fault
};
/// "running", "connecting", "ended", "lost"
std::string_view to_string(StreamState state) noexcept;

/// A source since the last call of Pipeline::telemetry().
struct StreamTelemetry {
  std::string source;                         ///< its SourceInfo::name
  StreamState state = StreamState::kRunning;  ///< now
  double rate = 0;                            ///< processed frames per second
  Ledger ledger;                              ///< since the start
  std::size_t queued = 0;                     ///< frames in its queue now
  std::vector<StageSummary> stages;           ///< latencies of the results
};

/// A sink since the start.
struct SinkTelemetry {
  std::string name;          ///< PipelineSink::name
  bool failing = false;      ///< its last result could not be written
  std::int64_t written = 0;  ///< as in SinkSummary
  std::int64_t dropped = 0;  ///< as in SinkSummary
  std::int64_t failed = 0;   ///< as in SinkSummary
  std::size_t queued = 0;    ///< frames in its queue now
};

/// A pipeline at work.
struct Telemetry {
  std::chrono::nanoseconds elapsed{};    ///< since the start
  std::vector<StreamTelemetry> streams;  ///< in the order of the sources
  std::vector<SinkTelemetry> sinks;      ///< in their order
  std::vector<ZoneSummary> zones;        ///< since the start, as Summary::zones
};

/// One JSON object on one line: {"event":"telemetry",...}; times in milliseconds.
std::string to_json(const Telemetry& telemetry);

}  // namespace saccade
