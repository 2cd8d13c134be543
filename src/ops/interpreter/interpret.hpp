#pragma once

#include <map>
#include <string>

#include "ops/core/op.hpp"

namespace saccade {

/// Runs one node by its reference kernel, post-ops included. An input left out is an empty tensor; outputs that nobody
/// asked for come back empty. Throws Error naming the node where the operator has no reference kernel.
std::vector<Tensor> evaluate(const Graph& graph, const Node& node, std::span<const Tensor> inputs);

/// Applies a node's post-ops to its output, in place; shared by evaluate() and a backend's last resort.
/// OPERANDS are the node's inputs, dense and row-major like OUTPUT.
void apply_post_ops(const Node& node, const TensorView& output, std::span<const TensorView> operands);

/// Checks a node's post-ops by their operators' shape rules. Throws Error (kInvalidFile, kUnsupported) naming the node
/// unless its float32 output keeps its type; the operands exist (verify() says so).
void check_post_ops(const Graph& graph, const Node& node);

/// Runs a whole graph by its reference kernels: the oracle of the tests and of the passes' checks. INPUTS by name;
/// returns the graph's outputs in their order.
std::vector<Tensor> interpret(const Graph& graph, const std::map<std::string, Tensor>& inputs);

}  // namespace saccade
