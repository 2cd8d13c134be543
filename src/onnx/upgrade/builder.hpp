#pragma once

#include <string>
#include <vector>

#include "onnx/sizes/extents.hpp"
#include "onnx/upgrade/raw_graph.hpp"

namespace saccade {

/// Adds raw graphs to a graph in the newest operator set's form, all types inferred on the way. No If and no Loop gets
/// there: what they choose or repeat stands in their place (control_flow.cpp says how).
class Builder {
 public:
  /// All outlive the builder.
  Builder(Graph& graph, KnownValues& known, Extents& extents, MemoryBudget& budget)
      : graph_(graph), known_(known), extents_(extents), budget_(budget) {}

  /// Adds RAW's nodes. PLACES holds by RAW's ValueIds what its values are in the graph; SUFFIX makes the nodes' names
  /// differ from those of RAW's other copies. Throws Error naming the node.
  void add_nodes(const RawGraph& raw, const std::vector<ValueId>& places, const std::string& suffix = {});

 private:
  using Values = std::vector<ValueId>;

  /// An If or a Loop whose inputs and outputs are the graph's own, without what its sub-graphs capture.
  struct ControlFlow {
    Node node;
    const std::vector<RawGraph>& bodies;
    std::vector<Values> captures;  ///< what each body uses of the graph around it
  };
  struct Iterations;

  void add_operator(Node node, std::int64_t version, const std::vector<bool>& wanted);
  void add_control_flow(const RawGraph& raw, NodeId id, Node node, const std::vector<ValueId>& places);
  void add_if(const ControlFlow& flow);
  void add_loop(const ControlFlow& flow);
  Iterations begin_loop(const ControlFlow& flow);
  void add_iteration(const ControlFlow& flow, Iterations& loop, std::int64_t number);
  void end_loop(const ControlFlow& flow, const Iterations& loop);

  /// Throws Error (kUnsupported) where COPIES of BODY would be too many beside those there are.
  void check_size(const RawGraph& body, std::int64_t copies) const;
  /// Adds body number WHICH with INPUTS; returns its outputs.
  Values add_body(const ControlFlow& flow, std::size_t which, Values inputs, const std::string& suffix);
  /// Adds a node of one output, named NAME; returns the output.
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
