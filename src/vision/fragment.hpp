#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace saccade {

/// Builds a graph fragment: adds nodes of one stage, with inferred types. Every function returns the value that it
/// creates, and throws Error if the operator rejects its inputs.
class Fragment {
 public:
  using AttributeList = std::initializer_list<std::pair<const char*, Attribute>>;

  Fragment(Graph& graph, Stage stage) : graph_(graph), stage_(stage) {}

  /// OUTPUTS are names; an empty one is omitted. Names that the model already uses get a number.
  std::vector<ValueId> add(Node node, const std::vector<std::string>& outputs);
  /// An ONNX operator with one output.
  ValueId op(std::string_view name, std::vector<ValueId> inputs, AttributeList attributes = {});
  /// An operator of the domain "saccade" with one output.
  ValueId own(std::string_view name, std::vector<ValueId> inputs, AttributeList attributes = {});

  ValueId constant(Tensor tensor);
  ValueId floats(const Shape& shape, const std::vector<float>& values);
  ValueId number(float value) { return floats({}, {value}); }
  ValueId ints(const std::vector<std::int64_t>& values);

  const Shape& shape(ValueId value) const { return graph_.value(value).type.shape; }
  ValueId cast(ValueId value, DType to);
  ValueId reshape(ValueId value, const std::vector<std::int64_t>& to);
  ValueId transpose(ValueId value, const std::vector<std::int64_t>& order);
  /// Elements BEGIN to END of an axis.
  ValueId slice(ValueId value, std::int64_t axis, std::int64_t begin, std::int64_t end);
  ValueId concat(std::vector<ValueId> values, std::int64_t axis);
  /// The elements of an axis at INDICES, int32 or int64 [N].
  ValueId gather(ValueId value, std::int64_t axis, ValueId indices);

  /// WANTED, with a number appended if the graph already has a value of that name.
  std::string unique(const std::string& wanted) const;

  Graph& graph() { return graph_; }

 private:
  Graph& graph_;
  Stage stage_;
};

}  // namespace saccade
