#pragma once

#include <span>

#include "op_case/op_case.hpp"

namespace saccade {

/// A case as a graph of its one node.
struct OpCase::Built {
  Graph graph;
  NodeId node = NodeId::kNone;
  std::vector<Tensor> inputs;  ///< of the node, by place; constants and operands of post-ops too

  NodeContext context() const { return {graph, graph.node(node), 2}; }
};

/// The backend with what its tests may use: CUDA with its fallback; the CPU's instruction sets up to $SACCADE_TEST_ISA.
const Backend& backend_of(TestedBackend backend);
const Tactic& find_tactic(const On& on);
/// The first DEFINED elements are compared.
void expect_near(const Tensor& got, const Tensor& wanted, Tolerance tolerance, std::size_t defined,
                 const std::string& what);

/// Runs PLAN twice on poisoned memory. Of output I the first DEFINED elements are compared, by default all.
void expect_outputs(const std::shared_ptr<const Plan>& plan, const std::map<std::string, Tensor>& inputs,
                    const std::vector<Tensor>& wanted, Tolerance tolerance,
                    const std::map<std::size_t, std::size_t>& defined, const std::string& what);

}  // namespace saccade
