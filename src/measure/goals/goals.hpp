#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "saccade/device.hpp"
#include "saccade/summary.hpp"

namespace saccade {

enum class GoalKind : std::uint8_t {
  kLatency,   ///< milliseconds from the start of a frame's capture to its result, at most
  kRate,      ///< processed frames per second of a source, at least: StreamSummary::rate
  kDrops,     ///< share of a source's frames that were not processed, at most: see drop_share()
  kLate,      ///< share of the results of a live source that are StreamSummary::late, at most
  kMemory,    ///< bytes of resident memory of the process at its peak, at most
  kSize,      ///< bytes of a model's file, with those of its weights beside it, at most
  kAccuracy,  ///< a score of `saccade validate --json`, at least
};

/// A line of a goals file.
struct Goal {
  GoalKind kind = GoalKind::kRate;
  std::string name;                  ///< its key: "latency_p99"
  std::string source = {};           ///< of [source."NAME"]; empty: each source that has no own goal of this name
  std::string model = {};            ///< of [model.NAME]
  double percentile = 0;             ///< of kLatency; 100: the longest
  double wanted = 0;                 ///< in the unit of its kind
  std::optional<double> score = {};  ///< of kAccuracy, from the report
  std::string report = {};           ///< of kAccuracy: the report's path
  std::optional<Precision> precision = {};  ///< in which the report's score was reached; nothing: unknown
};

/// The goals in the TOML file at PATH (docs/command.md). Reports of `validate` are read, too. Throws Error naming the
/// line.
std::vector<Goal> read_goals(const std::string& path);

/// A model of a run.
struct GoalModel {
  std::string name;
  Precision precision = Precision::kFp32;  ///< of the run, never Precision::kAuto
};

/// Throws Error (kInvalidArgument) if one of GOALS names a source or a model that is not in the run, or a model's name
/// that several have, or if its report is of another precision than the run.
void check_goals(std::span<const Goal> goals, std::span<const std::string> sources, std::span<const GoalModel> models);

/// What a run is measured by.
struct GoalFacts {
  Summary summary;
  std::int64_t peak_memory = 0;                     ///< bytes; 0: unknown
  std::map<std::string, std::int64_t> model_bytes;  ///< of kSize, by the model's name; absent: unknown
  std::set<std::size_t> without_rate;  ///< indices of live sources of unknown rate: nor is what outages cost known
};

/// A goal and what was measured.
struct GoalResult {
  Goal goal;
  std::string source;              ///< empty: not of one source
  std::optional<double> measured;  ///< in the unit of the goal; nothing: there was nothing to measure
  bool met = false;
};

/// GOALS by FACTS: those of sources once for each source that they apply to. What could not be measured is not met.
std::vector<GoalResult> evaluate_goals(std::span<const Goal> goals, const GoalFacts& facts);

/// "ms", "frames/s", "share", "bytes", "score"
std::string_view unit_of(GoalKind kind);
/// Whether WANTED is a lower limit.
bool is_at_least(GoalKind kind);
/// The frames that were dropped, corrupt, lost, or MISSED in outages, as a share of these and the captured ones that
/// were not skipped as requested. Those that had no turn because the run ended are not counted. Of frames that were
/// gone before it was their turn to be skipped, as large a share counts as was selected of the others.
double drop_share(const Ledger& ledger, std::int64_t missed = 0);

}  // namespace saccade
