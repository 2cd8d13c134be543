#pragma once

#include <cstdint>
#include <vector>

#include "graph/importer.hpp"
#include "onnx/external_data.hpp"

namespace saccade {

/// A model as its file has it, functions inlined and Constant nodes turned into constants: nodes still have the form of
/// the operator set that they were written for, and only inputs and constants have types.
struct RawGraph {
  Graph graph;
  std::vector<std::int64_t> versions;  ///< of the operator set of each node's domain, by NodeId
  std::string shape_hint;              ///< what to add to an error about shapes; may be empty
};

/// Throws Error naming the node or tensor: kUnsupported lists every operator that Saccade lacks, kInvalidFile says what
/// is wrong with the file. Empties MODEL's large tensors as it goes.
RawGraph read_graph(onnx::ModelProto& model, const ExternalData& external, const ImportOptions& options);

}  // namespace saccade
