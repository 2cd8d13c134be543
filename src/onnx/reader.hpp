#pragma once

#include "graph/importer.hpp"
#include "onnx/tensors.hpp"
#include "onnx/upgrade/raw_graph.hpp"

namespace saccade {

/// Throws Error naming the node or tensor: kUnsupported lists every operator that Saccade lacks, kInvalidFile describes
/// the defect of the file. Frees MODEL's large tensors as they are read.
RawGraph read_graph(onnx::ModelProto& model, const TensorSource& source, const ImportOptions& options);

}  // namespace saccade
