#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/node_attributes.hpp"
#include "onnx/opsets.hpp"
#include "onnx/reader.hpp"

namespace saccade {

/// A graph that is being read.
struct Draft {
  explicit Draft(MemoryBudget& budget_of_model) : budget(budget_of_model) {}

  MemoryBudget& budget;  ///< names count, too: calls put each in front of the next
  RawGraph raw;
  std::vector<bool> defined;           ///< by ValueId: an input, a constant, or some node's output
  std::vector<std::uint32_t> readers;  ///< by ValueId: how often nodes read it

  ValueId add_value(std::string name);
  /// Adds a node of that version of its operator set. Throws Error (kUnsupported) where too many read a value.
  NodeId add_node(Node node, std::int64_t version);
  /// Throws Error (kInvalidFile) naming what reads a value, or an output, that nothing makes.
  void check_all_defined() const;
};

/// The names that one graph or one call of a function sees.
struct Scope {
  Draft& draft;
  std::unordered_map<std::string, ValueId> values;
  OpsetVersions opsets;
  Arguments arguments;
  std::string prefix;  ///< of everything named here: the calling node's name and a slash
  int depth = 0;

  // Of a sub-graph only:
  Scope* outer = nullptr;                ///< where the names are that it does not define itself
  std::unordered_set<std::string> own;   ///< those that it does
  std::vector<ValueId> captures;         ///< what it uses of the graph around it, by ids there
  std::vector<ValueId> captured_inputs;  ///< the same by ids here

  /// The value of that name; one that is not defined yet is expected to be: files need not be in order. kNone for "".
  ValueId find(const std::string& name);
  /// The same for a value that gets its maker now. Throws Error (kInvalidFile) where it has one.
  ValueId define(const std::string& name);

 private:
  ValueId capture(const std::string& name);
};

}  // namespace saccade
