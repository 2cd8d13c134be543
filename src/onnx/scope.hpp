#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/node_attributes.hpp"
#include "onnx/opsets.hpp"
#include "onnx/reader.hpp"

namespace saccade {

/// A graph under construction.
struct Draft {
  explicit Draft(MemoryBudget& budget_of_model) : budget(budget_of_model) {}

  MemoryBudget& budget;  ///< names count, too: each call prefixes them
  RawGraph raw;
  std::vector<bool> defined;           ///< by ValueId: a graph input, a constant or a node's output
  std::vector<std::uint32_t> readers;  ///< by ValueId: how often nodes read it

  ValueId add_value(std::string name);
  /// Adds a node of that version of its operator set. Throws Error (kUnsupported) if a value has too many readers.
  NodeId add_node(Node node, std::int64_t version);
  /// Throws Error (kInvalidFile) naming a value that is read, or an output, that nothing defines.
  void check_all_defined() const;
};

/// The names visible in one graph or one function call.
struct Scope {
  Draft& draft;
  std::unordered_map<std::string, ValueId> values;
  OpsetVersions opsets;
  Arguments arguments;
  std::string prefix;  ///< of all names defined here: the calling node's name and a slash
  int depth = 0;

  // For sub-graphs only:
  Scope* outer = nullptr;                ///< the enclosing scope, where other names are looked up
  std::unordered_set<std::string> own;   ///< names that it defines
  std::vector<ValueId> captures;         ///< values of the enclosing graph that it uses, by outer id
  std::vector<ValueId> captured_inputs;  ///< the same by inner id

  /// The value named NAME; one that is not defined yet is expected later, since files may list nodes in any order.
  /// kNone for "".
  ValueId find(const std::string& name);
  /// The same for a value that is being defined. Throws Error (kInvalidFile) if it is defined already.
  ValueId define(const std::string& name);

 private:
  ValueId capture(const std::string& name);
};

}  // namespace saccade
