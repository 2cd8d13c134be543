#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "saccade/device.hpp"
#include "saccade/zones.hpp"

namespace saccade {

enum class StreamState : std::uint8_t;  // saccade/telemetry.hpp

/// What happened to every frame of a source.
struct Ledger {
  std::int64_t captured = 0;        ///< frames that the source produced, including corrupt and lost ones
  std::int64_t processed = 0;       ///< processed by every model
  std::int64_t skipped = 0;         ///< omitted as requested: PipelineOptions::every, max_rate
  std::int64_t queue_full = 0;      ///< dropped: displaced by another frame before it was processed or its results read
  std::int64_t no_buffer = 0;       ///< dropped: all buffers of the source were in use
  std::int64_t decoder_behind = 0;  ///< dropped: the decoder of a network stream was more than a second behind
  std::int64_t stopped = 0;         ///< dropped: captured, but the pipeline was stopped first
  std::int64_t failed = 0;          ///< dropped: a model could not run on it
  std::int64_t corrupt = 0;         ///< could not be decoded
  std::int64_t lost = 0;            ///< missing in the source's own numbering

  /// Frames that were captured, but not processed, against the user's wish.
  std::int64_t dropped() const { return queue_full + no_buffer + decoder_behind + stopped + failed; }
  /// Frames in flight in a running pipeline; 0 when it has ended.
  std::int64_t in_flight() const { return captured - processed - skipped - dropped() - corrupt - lost; }
  /// Adds the counts of OTHER.
  Ledger& operator+=(const Ledger& other);
};

/// The upper bounds of Distribution::at_most.
inline constexpr std::array kLatencyBounds = [] {
  using Time = std::chrono::nanoseconds;
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return std::array{Time(microseconds(50)),  Time(microseconds(100)), Time(microseconds(200)), Time(microseconds(500)),
                    Time(milliseconds(1)),   Time(milliseconds(2)),   Time(milliseconds(5)),   Time(milliseconds(10)),
                    Time(milliseconds(20)),  Time(milliseconds(50)),  Time(milliseconds(100)), Time(milliseconds(200)),
                    Time(milliseconds(500)), Time(seconds(1)),        Time(seconds(2)),        Time(seconds(5)),
                    Time(seconds(10))};
}();

/// Durations of one stage, one sample per frame and model.
struct Distribution {
  std::int64_t count = 0;                ///< samples
  std::chrono::nanoseconds min{};        ///< shortest
  std::chrono::nanoseconds mean{};       ///< arithmetic mean
  std::chrono::nanoseconds deviation{};  ///< standard deviation
  std::chrono::nanoseconds p50{};        ///< median
  std::chrono::nanoseconds p90{};        ///< 90 % are not longer
  std::chrono::nanoseconds p95{};        ///< 95 % are not longer
  std::chrono::nanoseconds p99{};        ///< 99 % are not longer
  std::chrono::nanoseconds p999{};       ///< 99.9 % are not longer
  std::chrono::nanoseconds max{};        ///< longest
  std::chrono::nanoseconds sum{};        ///< of all
  /// Samples that are not longer than each of kLatencyBounds; a bound is exact to 0.8 %.
  std::array<std::int64_t, kLatencyBounds.size()> at_most{};
};

/// The durations of one stage.
struct StageSummary {
  std::string name;   ///< "sensor", "capture", "queue", "pre", "model", "post", "total"
  Distribution time;  ///< its durations
};

/// A time in which a source delivered no frames.
struct Outage {
  std::chrono::nanoseconds start{};     ///< the last frame before it, since the pipeline's start
  std::chrono::nanoseconds duration{};  ///< until the next frame, or so far
  std::int64_t missed = 0;              ///< frames that the source would have delivered at its rate; 0: rate unknown
  bool is_over = false;                 ///< a frame has followed
};

/// All outages of a source.
struct Outages {
  std::int64_t count = 0;                   ///< number of outages
  std::chrono::nanoseconds duration{};      ///< of all together
  std::int64_t missed = 0;                  ///< frames, in all together
  std::chrono::nanoseconds before_first{};  ///< of the one before the first frame; 0: there was none
  std::vector<Outage> latest;               ///< at most 16, in their order
};

/// Faults of a device from which it recovered, since it was opened.
struct SourceFaults {
  std::int64_t unplugged = 0;            ///< the device went away
  std::int64_t restarts = 0;             ///< its stream stalled or failed, and was started again
  std::int64_t format_changes = 0;       ///< its signal had another format, and it was opened again
  std::int64_t refused_buffers = 0;      ///< by its driver; they are queued again
  std::int64_t replaced_timestamps = 0;  ///< after the frame's arrival or before the last frame's: arrival is used

  /// Whether all counts are equal.
  bool operator==(const SourceFaults&) const = default;
  /// Adds the counts of OTHER.
  SourceFaults& operator+=(const SourceFaults& other) {
    unplugged += other.unplugged;
    restarts += other.restarts;
    format_changes += other.format_changes;
    refused_buffers += other.refused_buffers;
    replaced_timestamps += other.replaced_timestamps;
    return *this;
  }
};

/// What happened in one source.
struct StreamSummary {
  std::string source;            ///< its SourceInfo::name
  std::optional<Device> device;  ///< the one of PipelineOptions::devices that runs the models on it
  StreamState state{};           ///< now
  std::size_t queued = 0;        ///< frames in its queue now
  Ledger ledger;                 ///< of its frames
  std::string fault;             ///< why the source was lost; empty if it was not
  Outages outages;               ///< from which the source came back, or may do so
  SourceFaults faults;           ///< of its device
  /// Processed frames per second, from the first result to the last; 0: fewer than two.
  double rate = 0;
  /// Of the frames that are processed, if the source is live; 0: it is not, or its rate is unknown.
  std::chrono::nanoseconds period{};
  /// Results that took longer than PERIOD, from the start of their frame's capture; nothing without a period.
  std::optional<std::int64_t> late = {};
  std::vector<StageSummary> stages;  ///< of its frames, as Summary::stages
};

/// What happened to the results that a sink of a pipeline was to write. Their sum is the number of results so far, but
/// for those in its queue.
struct SinkSummary {
  std::string name;          ///< PipelineSink::name
  bool failing = false;      ///< its last result could not be written
  bool has_ended = false;    ///< an error has ended it: it is not tried again
  std::int64_t written = 0;  ///< results
  std::int64_t dropped = 0;  ///< results that were displaced in its queue: it is slower than the models
  std::int64_t failed = 0;   ///< results that it could not write
  std::string fault;         ///< the first error; empty: none
  Distribution time;         ///< of a result: writing it
};

/// The upper bounds of DwellTimes::at_most.
inline constexpr std::array kDwellBounds = [] {
  using std::chrono::seconds;
  return std::array{seconds(1),  seconds(2),   seconds(5),   seconds(10),  seconds(20),   seconds(30),
                    seconds(60), seconds(120), seconds(300), seconds(600), seconds(1800), seconds(3600)};
}();

/// How long objects stayed in an area, of those that have left.
struct DwellTimes {
  std::int64_t count = 0;          ///< objects that have left
  std::chrono::nanoseconds sum{};  ///< of all their stays
  std::chrono::nanoseconds max{};  ///< longest
  /// Stays that were not longer than each of kDwellBounds.
  std::array<std::int64_t, kDwellBounds.size()> at_most{};

  /// Adds a stay.
  void add(std::chrono::nanoseconds stay) {
    ++count;
    sum += stay;
    if (stay > max) max = stay;
    for (std::size_t i = 0; i < kDwellBounds.size(); ++i) at_most[i] += stay <= kDwellBounds[i] ? 1 : 0;
  }
  /// Of all stays; 0 without any.
  std::chrono::nanoseconds mean() const { return count == 0 ? sum : sum / count; }
};

/// Objects of one class that a zone has counted.
struct ZoneClassCount {
  int class_id = 0;        ///< index of the model's labels
  std::string class_name;  ///< empty if the model has none
  std::int64_t in = 0;     ///< crossed the line inwards, or entered the area
  std::int64_t out = 0;    ///< crossed the line outwards, or left the area
};

/// What a zone has counted among the objects that one model found in one stream.
struct ZoneSummary {
  std::string name;                     ///< Zone::name
  ZoneKind kind = ZoneKind::kLine;      ///< what it counts
  std::size_t stream = 0;               ///< index of the source
  std::size_t model = 0;                ///< index of the model
  std::int64_t in = 0;                  ///< objects that crossed the line inwards, or entered the area
  std::int64_t out = 0;                 ///< objects that crossed the line outwards, or left the area
  std::int64_t inside = 0;              ///< objects in the area now
  std::vector<ZoneClassCount> classes;  ///< the same by class, in ascending order of the class ID
  DwellTimes dwell;                     ///< in the area
};

/// Statistics of a pipeline since its start.
struct Summary {
  std::chrono::nanoseconds elapsed{};  ///< since the start
  double frames_per_second = 0;        ///< processed frames of all streams
  Ledger ledger;                       ///< of all streams together
  std::vector<StreamSummary> streams;  ///< in the order of the sources
  std::vector<std::string> models;     ///< names, in the order of the models
  std::vector<SinkSummary> sinks;      ///< in their order
  std::vector<ZoneSummary> zones;      ///< of each stream, then model, in the order of PipelineOptions::zones
  std::int64_t invalid = 0;            ///< results that are Result::invalid(), of all models together
  std::vector<StageSummary> stages;    ///< in their order
  double batch = 1;                    ///< frames that the models processed at once, on average
  /// The slowest stage per frame, which limits the rate; capture runs concurrently with the others. Empty without
  /// frames.
  std::string bottleneck;
};

/// One JSON object on one line: {"event":"summary",...}; times in milliseconds.
std::string to_json(const Summary& summary);
/// A few lines of text.
std::string to_text(const Summary& summary);

}  // namespace saccade
