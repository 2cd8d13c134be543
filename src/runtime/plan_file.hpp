#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.hpp"
#include "graph/fp32_keep_list.hpp"
#include "graph/graph.hpp"
#include "runtime/tactic.hpp"
#include "runtime/tactic_choices.hpp"
#include "saccade/device.hpp"

namespace saccade {

/// The contents of a plan file beside its model: how the model was compiled, and the results of compilation.
struct PlanFacts {
  Device::Kind backend = Device::Kind::kCpu;  ///< never kAuto
  std::string device;                         ///< Backend::device_name()
  std::string kernel_version;                 ///< Backend::kernel_version()
  Precision precision = Precision::kAuto;
  std::optional<ValueNames>
      keep_fp32;  ///< Fp32KeepList::values for frames, preprocessed by CARD; nullopt: not computed
  std::optional<ValueNames> keep_fp32_on_tensors;  ///< for raw tensors
  NodeNames keep_for_accuracy;                     ///< Fp32KeepList::products, for any card and device
  bool fallback = false;                           ///< operators without a kernel may run on the host
  std::string card;                                ///< as TOML; empty: the model is not recognised
  TacticChoices choices;
  KernelImages kernels;
  PackedTensors packed;  ///< for DEVICE and KERNEL_VERSION
};

struct PlanContents {
  Graph graph;
  PlanFacts facts;
  /// Of load_plan(): the graph's constants and FACTS.packed lie in it.
  std::shared_ptr<const MappedFile> file = nullptr;
};

/// Writes a model as it was imported, before passes, and FACTS. The file is replaced atomically. Throws Error (kIo),
/// and (kUnsupported) for a graph that a plan can't represent.
void save_plan(const std::string& path, const Graph& graph, const PlanFacts& facts);
/// The file is mapped: it may be replaced meanwhile, not written in place. MAX_MEMORY as in CompileOptions. The file's
/// checksum detects damage, not malice: the contents are validated like a model's, and a backend validates the kernels'
/// images before a driver loads them. Throws Error (kIo, kInvalidFile, kUnsupported) naming the file.
PlanContents load_plan(const std::string& path, std::size_t max_memory = 0);
/// The contents of a plan file's BYTES. Throws Error (kInvalidFile, kUnsupported).
PlanContents parse_plan(std::string_view bytes, std::size_t max_memory = 0);
bool is_plan_file(const std::string& path);
/// PlanFacts::backend alone, without reading the rest. Throws as load_plan() does.
Device::Kind backend_of_plan(const std::string& path);

}  // namespace saccade
