#pragma once

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Whether kernels support the data-movement node: its other inputs are constant.
Support supports_move(const NodeContext& context);

/// Rule that reads the elements of a data-movement node; empty for other nodes. Its parameters are evaluated here,
/// once.
ElementRule find_move_rule(const NodeContext& context);

/// Whether the node moves elements by an affine index function, so that it can be fused into its reader.
bool has_affine_origin(const NodeContext& context);

}  // namespace saccade::cuda
