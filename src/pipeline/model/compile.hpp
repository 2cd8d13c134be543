#pragma once

#include <memory>
#include <optional>

#include "graph/fp32_keep_list.hpp"
#include "runtime/plan.hpp"
#include "saccade/model.hpp"

namespace saccade {

/// Reads a model file with the shapes of OPTIONS. Throws Error with the file's name.
Graph import_model(const std::string& path, const ModelOptions& options);

/// The types of a plan's inputs and outputs.
enum class Edges : std::uint8_t {
  kAsModel,     ///< the types of the model file
  kAsComputed,  ///< half precision where the precision narrows float32, so that nothing is converted
};

struct CompileRequest {
  Graph graph;           ///< imported, with or without pre- and post-processing
  ModelOptions options;  ///< device, precision, passes and limits
  TacticChoices measured = {};
  PackedConstants* packed = nullptr;  ///< see CompileOptions
  Edges edges = Edges::kAsModel;
  std::optional<Fp32KeepList> keep_fp32 = {};  ///< of GRAPH; nullopt: find_fp32_keep_list() computes it
};

/// Lowers a graph and selects tactics by choices_for(). Any thread. Throws Error.
std::shared_ptr<const Plan> compile(CompileRequest request);

/// MEASURED, plus cached choices of this machine for other nodes, with that number of THREADS.
TacticChoices choices_for(const Backend& backend, int threads, const TacticChoices& measured);

}  // namespace saccade
