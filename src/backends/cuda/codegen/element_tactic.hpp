#pragma once

#include <memory>
#include <string_view>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Why kernels can't read or count the node's tensors; nothing where they can.
Support supports_tensors(const NodeContext& context);

/// Whether kernels compute numbers of DTYPE in float: float32 and the halves.
bool is_computed_in_float(DType dtype);

/// Operators that share a way to write their kernels.
struct ProgramOperators {
  std::string_view name;  ///< of the tactic
  /// Whether PROGRAM knows the node, its tensors and post-ops apart.
  std::function<Support(const NodeContext& context)> supports;
  /// The kernels of a node of whose outputs not all are empty.
  std::function<NodeProgram(const NodeContext& context)> program;
  /// Whether the kernels read and write by the operands' strides; null: never.
  std::function<bool(const NodeContext& context)> takes_strides = nullptr;
};
std::unique_ptr<Tactic> program_tactic(Device& device, ProgramOperators operators);

/// Operators of which every thread works out one element, wherever the tensors' elements lie.
struct ElementOperators {
  std::string_view name;  ///< of the tactic
  /// Whether ELEMENT knows the node, its tensors and post-ops apart.
  Support (*supports)(const NodeContext& context);
  ElementRule element;
  std::string_view header = {};  ///< of kernels/, beside elements.cuh
};
std::unique_ptr<Tactic> element_tactic(Device& device, ElementOperators operators);

/// Braces of a kernel's body: what is opened by it is closed with it.
class Braces {
 public:
  explicit Braces(ElementCode& code) : code_(code) {}
  Braces(const Braces&) = delete;
  Braces& operator=(const Braces&) = delete;
  ~Braces() {
    for (; open_ > 0; --open_) code_.line("}");
  }

  /// Goes COUNT times through what follows, and gives the number of the turn.
  std::string loop(std::int64_t count) {
    if (count == 1) return "0";
    std::string turn = code_.fresh("i");
    open(fmt::format("for (int32 {0} = 0; {0} < {1}; ++{0})", turn, count));
    return turn;
  }
  void when(const std::string& condition) { open("if (" + condition + ")"); }
  void open(const std::string& head) {
    code_.line(head + " {");
    ++open_;
  }

 private:
  ElementCode& code_;
  int open_ = 0;
};

/// A number X (float or double) as an element of type TO: integers are cut off towards zero and to what TO holds.
std::string element_of(DType to, const std::string& x);

/// Element AT of input I, an index along a dimension of DIM elements, counted from its start: a negative one counts
/// from its end. One outside is brought to the nearest inside, so that nothing is read or written outside of a tensor,
/// and the run ends in an Error (faults.hpp).
std::string index_into(ElementCode& code, int i, const Index& at, std::int64_t dim);

/// Declares a variable and gives its name.
std::string declare(ElementCode& code, std::string_view type, std::string_view start);

}  // namespace saccade::cuda
