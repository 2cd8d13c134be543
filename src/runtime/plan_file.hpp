#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "graph/graph.hpp"
#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"

namespace saccade {

/// What a plan file says beside its model: how that was compiled, and what was found out about it on the way.
struct PlanFacts {
  std::string backend;         ///< "cuda"
  std::string device;          ///< Backend::device_name()
  std::string kernel_version;  ///< Backend::kernel_version()
  std::string precision = "auto";
  /// Values that the precision does not narrow, by their names behind all passes: nothing where they were not looked
  /// for.
  using WideValues = std::optional<std::set<std::string, std::less<>>>;
  WideValues stay_wide;             ///< on frames, as CARD has them made
  WideValues stay_wide_on_tensors;  ///< where raw tensors are fed
  bool fallback = false;            ///< operators without a kernel may run on the host
  std::string card;                 ///< the model's, as TOML; empty: the model is not recognised
  TacticChoices choices;
  KernelImages kernels;
};

struct PlanContents {
  Graph graph;
  PlanFacts facts;
};

/// Writes a model as it was read, before passes, and FACTS, so that no reader ever sees half a plan. Throws Error
/// (kIo), and (kUnsupported) for what a plan can't hold.
void save_plan(const std::string& path, const Graph& graph, const PlanFacts& facts);
/// MAX_MEMORY as in CompileOptions. A checksum over all of the file tells damage, not harm: who means it can make a
/// file whose checksum is right, so its contents are evaluated as those of a model are, and a backend looks at the
/// kernels' images before a driver does. Throws Error (kIo, kInvalidFile, kUnsupported) naming the file.
PlanContents load_plan(const std::string& path, std::size_t max_memory = 0);
/// The contents of a plan file's BYTES. Throws Error (kInvalidFile, kUnsupported).
PlanContents parse_plan(std::string_view bytes, std::size_t max_memory = 0);
bool is_plan_file(const std::string& path);
/// PlanFacts::backend alone, without reading the rest. Throws as load_plan() does.
std::string backend_of_plan(const std::string& path);

}  // namespace saccade
