#pragma once

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// How elements of a node that only moves some are read, or nothing for other nodes. What its parameters say is found
/// out here, once.
ElementRule find_move_rule(const NodeContext& context);

/// Whether the node only moves elements, each of which comes from a place that is a sum over the output's dimensions:
/// it can be read through.
bool moves_by_sums(const NodeContext& context);

}  // namespace saccade::cuda
