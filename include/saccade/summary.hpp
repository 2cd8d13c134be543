#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace saccade {

/// What happened to every frame of a source.
struct Ledger {
  std::int64_t captured = 0;    ///< frames that the source produced, including corrupt and lost ones
  std::int64_t processed = 0;   ///< processed by every model
  std::int64_t queue_full = 0;  ///< dropped: displaced by another frame in the queue
  std::int64_t stopped = 0;     ///< dropped: captured, but the pipeline was stopped first
  std::int64_t failed = 0;      ///< dropped: a model could not run on it
  std::int64_t corrupt = 0;     ///< could not be decoded
  std::int64_t lost = 0;        ///< missing in the source's own numbering

  std::int64_t dropped() const { return queue_full + stopped + failed; }
  /// Frames in flight in a running pipeline; 0 when it has ended.
  std::int64_t in_flight() const { return captured - processed - dropped() - corrupt - lost; }
  Ledger& operator+=(const Ledger& other);
};

/// Durations of one stage, one sample per frame and model.
struct Distribution {
  std::int64_t count = 0;
  std::chrono::nanoseconds min{};
  std::chrono::nanoseconds mean{};
  std::chrono::nanoseconds deviation{};
  std::chrono::nanoseconds p50{};
  std::chrono::nanoseconds p90{};
  std::chrono::nanoseconds p95{};
  std::chrono::nanoseconds p99{};
  std::chrono::nanoseconds max{};
};

struct StageSummary {
  std::string name;  ///< "capture", "queue", "pre", "model", "post", "total"
  Distribution time;
};

struct StreamSummary {
  std::string source;
  Ledger ledger;
  std::string fault;  ///< why the source was lost; empty if it was not
};

/// Statistics of a pipeline since its start.
struct Summary {
  std::chrono::nanoseconds elapsed{};
  double frames_per_second = 0;  ///< processed frames of all streams
  Ledger ledger;                 ///< of all streams together
  std::vector<StreamSummary> streams;
  std::vector<std::string> models;
  std::int64_t invalid = 0;  ///< results that are Result::invalid(), of all models together
  std::vector<StageSummary> stages;
  /// The slowest stage per frame, which limits the rate; capture runs concurrently with the others. Empty without
  /// frames.
  std::string bottleneck;
};

/// One JSON object on one line: {"event":"summary",...}; times in milliseconds.
std::string to_json(const Summary& summary);
/// A few lines of text.
std::string to_text(const Summary& summary);

}  // namespace saccade
