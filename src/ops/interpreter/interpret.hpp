#pragma once

#include <map>
#include <string>

#include "ops/core/op.hpp"

namespace saccade {

/// Runs one node by its reference kernel, including post-ops. An omitted input is an empty tensor; outputs that are not
/// requested are returned empty. Throws Error naming the node if the operator has no reference kernel.
std::vector<Tensor> evaluate(const Graph& graph, const Node& node, std::span<const Tensor> inputs);

/// Applies a node's post-ops to its output in place; shared by evaluate() and the backends' fallback. OPERANDS are the
/// node's inputs, dense and row-major like OUTPUT.
void apply_post_ops(const Node& node, const TensorView& output, std::span<const TensorView> operands);

/// Checks a node's post-ops with their operators' shape rules. Throws Error (kInvalidFile, kUnsupported) naming the
/// node unless its float32 output keeps its type. The operands must exist (see verify()).
void check_post_ops(const Graph& graph, const Node& node);

/// Runs a whole graph by its reference kernels: the oracle of tests and of the passes' checks. INPUTS by name; returns
/// the graph's outputs in order.
std::vector<Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs);

}  // namespace saccade
