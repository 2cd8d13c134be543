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
  /// Passes that do not run; an unknown name is an Error (kInvalidArgument) that lists the known ones.
  PassNames disabled;
  /// Stops after so many patches: halve the number to find the patch that breaks a model. Negative: no limit.
  std::int64_t max_patches = -1;
  /// What the backend wants of a node's tensors; empty: everything stays row-major.
  LayoutRules layout_rules;
  /// Which nodes the backend can run as parts of a saccade.Fused; empty: none.
  FusionRule fuses;
  /// For which nodes the backend has a kernel of its own; empty: for none that a pass would make for it.
  KernelRule runs;
  /// The backend computes float16 and bfloat16 in float32.
  bool widen_halves = false;
  /// Convolutions, products and attentions of float32 may round to tf32.
  bool allow_tf32 = false;
  /// The backend runs saccade.StridedAttention as one kernel.
  bool fuses_attention = false;
  /// What the model's float32 is to be computed in: float16 or bfloat16; nothing: as it is.
  std::optional<DType> narrow_to;
  /// Graph outputs that are computed in it are given so.
  bool narrow_outputs = false;
  /// Values that stay float32, since a half does not hold what they may be.
  ValueNames stay_wide;

  /// Runs the graph by the reference interpreter before and after every pass that changed it, and throws Error
  /// (kInternal) naming the pass whose outputs differ by more than TOLERANCE of an output's spread (its largest minus
  /// its smallest element). Slow.
  bool check = false;
  double tolerance = 1e-4;
  /// Inputs to check with, by name; random ones for the others.
  std::map<std::string, Tensor> check_inputs;

  /// What the constants and what is worked out from them may take, in bytes; 0: default_memory_limit().
  std::size_t max_memory = 0;

  /// Called with a pass's name and the graph after it ran, and with "" before the first.
  std::function<void(std::string_view pass, const Graph& graph)> on_graph;
};

/// What one pass did.
struct PassRecord {
  std::string name;
  std::int64_t patches = 0;
  std::chrono::nanoseconds time{};
  std::size_t nodes_before = 0;
  std::size_t nodes_after = 0;
};

/// One change, numbered from 1 over all passes.
struct PatchRecord {
  std::int64_t number = 0;
  std::string pass;
  std::string note;
};

struct PassReport {
  std::vector<PassRecord> passes;  ///< in the order of running
  std::vector<PatchRecord> patches;
};

/// Every pass's name, once, in the order of the first time that it runs.
std::vector<std::string> pass_names();
/// All of them but KEPT: what to disable for running these alone.
PassNames passes_except(const PassNames& kept);
/// FIRST and all that run behind it.
PassNames passes_from(std::string_view first);

/// Brings a graph with known types into the form that backends run best: the one place where passes run. Every pass is
/// applied until it finds nothing more, new nodes get their types, and the graph is verified after it.
/// Throws Error naming the pass.
PassReport run_passes(Graph& graph, const PassOptions& options = {});

/// "#12 fold_batch_norm: bn1 into conv1", a line a patch.
ReportText print_patches(const PassReport& report);

}  // namespace saccade
