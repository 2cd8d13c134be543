#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/report_text.hpp"
#include "passes/core/pass.hpp"

namespace saccade {

using PassNames = std::set<std::string, std::less<>>;

struct PassOptions {
  Target target;
  MixedPrecision precision;
  /// Passes that do not run; an unknown name is an Error (kInvalidArgument) that lists the known ones.
  PassNames disabled;
  /// Stops after this many patches, to bisect for the patch that breaks a model. Negative: no limit.
  std::int64_t max_patches = -1;

  /// Runs the reference interpreter before and after every pass that changed the graph, and throws Error (kInternal)
  /// naming the pass if outputs differ by more than TOLERANCE of an output's spread (largest minus smallest element).
  /// Slow.
  bool check = false;
  double tolerance = 1e-4;
  /// Inputs for the check, by name; the others are random.
  std::map<std::string, Tensor> check_inputs;

  /// Memory limit for constants and folded constants, in bytes; 0: default_memory_limit().
  std::size_t max_memory = 0;

  /// Called with a pass's name and the graph after it ran, and with "" before the first.
  std::function<void(std::string_view pass, const Graph& graph)> on_graph;
};

/// The effect of one pass.
struct PassRecord {
  std::string name;
  std::int64_t patches = 0;
  std::chrono::nanoseconds time{};
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
};

/// One patch, numbered from 1 over all passes.
struct PatchRecord {
  std::int64_t number = 0;
  std::string pass;
  std::string note;
};

/// What PassOptions::check compared. A difference is relative to the spread of an output.
struct PassCheck {
  std::int64_t compared = 0;  ///< passes, those that changed the graph
  double largest = 0;         ///< of all differences
  std::string pass;           ///< that caused it
  std::string output;         ///< in which it is
  double tolerance = 0;       ///< of that pass
};

struct PassReport {
  std::vector<PassRecord> passes;  ///< in the order of execution
  std::vector<PatchRecord> patches;
  std::optional<PassCheck> check;  ///< with PassOptions::check
};

/// The names of all passes, without duplicates, in the order of their first occurrence.
std::vector<std::string> pass_names();
/// All passes except KEPT. Throws Error (kInvalidArgument) for an unknown name.
PassNames passes_except(const PassNames& kept);
/// FIRST and all passes after it.
PassNames passes_from(std::string_view first);

/// Lowers a graph with inferred types for OPTIONS' target. Every pass runs until it finds no match; then the types of
/// new nodes are inferred and the graph is verified. Throws Error naming the pass.
PassReport run_passes(Graph& graph, const PassOptions& options = {});

/// "#12 fold_batch_norm: bn1 into conv1", one line per patch.
ReportText print_patches(const PassReport& report);

}  // namespace saccade
