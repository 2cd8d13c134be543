#pragma once

#include <string>
#include <vector>

#include "onnx/sizes/extents.hpp"
#include "onnx/upgrade/raw_graph.hpp"

namespace saccade {

/// Adds raw graphs to a graph in the form of the newest operator set, with inferred types. If and Loop are expanded
/// into the nodes that they select or repeat (see control_flow.cpp).
class Builder {
 public:
  /// Borrows all arguments.
  Builder(Graph& graph, KnownValues& known, Extents& extents, MemoryBudget& budget)
      : graph_(graph), known_(known), extents_(extents), budget_(budget) {}

  /// Adds RAW's nodes. PLACES maps RAW's ValueIds to values of the graph; SUFFIX makes the nodes' names unique among
  /// copies of RAW. Throws Error naming the node.
  void add_nodes(const RawGraph& raw, const std::vector<ValueId>& places, const std::string& suffix = {});

 private:
  using Values = std::vector<ValueId>;

  /// An If or a Loop with values of the graph as inputs and outputs, without captures.
  struct ControlFlow {
    Node node;
    const std::vector<RawGraph>& bodies;
    std::vector<Values> captures;  ///< values of the enclosing graph that each body uses
  };
  struct Iterations;

  void add_operator(Node node, std::int64_t version, const std::vector<bool>& wanted);
  void add_control_flow(const RawGraph& raw, NodeId id, Node node, const std::vector<ValueId>& places);
  void add_if(const ControlFlow& flow);
  void add_loop(const ControlFlow& flow);
  Iterations begin_loop(const ControlFlow& flow);
  void add_iteration(const ControlFlow& flow, Iterations& loop, std::int64_t number);
  void end_loop(const ControlFlow& flow, const Iterations& loop);

  /// Throws Error (kUnsupported) if COPIES more of BODY exceed the limit.
  void check_size(const RawGraph& body, std::int64_t copies) const;
  /// Adds body WHICH with INPUTS; returns its outputs.
  Values add_body(const ControlFlow& flow, std::size_t which, Values inputs, const std::string& suffix);
  /// Adds a node with one output, named NAME; returns the output.
  ValueId add(const std::string& name, Node node);
  ValueId add_scalar(const std::string& name, ValueId value);
  ValueId add_row(const std::string& name, ValueId row, ValueId runs);
  ValueId add_scalar_condition(const std::string& name, ValueId condition);
  ValueId choose(const std::string& name, ValueId condition, ValueId yes, ValueId no);
  void copy_to_outputs(const Node& node, const Values& values);

  Graph& graph_;
  KnownValues& known_;
  Extents& extents_;
  MemoryBudget& budget_;
  std::size_t copied_ = 0;  ///< nodes and values
};

}  // namespace saccade
