#pragma once

#include <memory>
#include <string_view>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {

/// Whether kernels can read the node's element types and index its tensors in 32 bits.
Support supports_tensors(const NodeContext& context);

/// Whether DTYPE is computed in float: float32, float16 and bfloat16.
bool is_computed_in_float(DType dtype);

/// A tactic given by functions that generate its kernels.
struct ProgramOperators {
  std::string_view name;  ///< of the tactic
  /// Whether PROGRAM supports the node; tensors and post-ops are checked separately.
  std::function<Support(const NodeContext& context)> supports;
  /// The kernels of a node with at least one non-empty output.
  std::function<NodeProgram(const NodeContext& context)> program;
  /// Whether the kernels read and write strided operands; null: never.
  std::function<bool(const NodeContext& context)> supports_strided_operands = nullptr;
};
std::unique_ptr<Tactic> program_tactic(Device& device, ProgramOperators operators);

/// An element-wise tactic: one thread per element, for operands of any layout.
struct ElementOperators {
  std::string_view name;  ///< of the tactic
  /// Whether ELEMENT supports the node; tensors and post-ops are checked separately.
  Support (*supports)(const NodeContext& context);
  ElementRule element;
  std::string_view header = {};  ///< of kernels/, beside elements.cuh
};
std::unique_ptr<Tactic> element_tactic(Device& device, ElementOperators operators);

/// Scopes of a kernel's body, closed in the destructor.
class Braces {
 public:
  explicit Braces(ElementCode& code) : code_(code) {}
  Braces(const Braces&) = delete;
  Braces& operator=(const Braces&) = delete;
  ~Braces() {
    for (; open_ > 0; --open_) code_.line("}");
  }

  /// Opens a loop of COUNT iterations and returns its index.
  std::string loop(std::int64_t count) {
    if (count == 1) return "0";
    std::string item = code_.fresh("i");
    open(fmt::format("for (int32 {0} = 0; {0} < {1}; ++{0})", item, count));
    return item;
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

/// X (float or double) converted to type TO; integers are truncated towards zero and saturated.
std::string element_of(DType to, const std::string& x);

/// Element AT of input I as an index of a dimension of DIM elements; negative indices count from the end. An index out
/// of range is clamped, so that no access leaves the tensor, and reported: the run ends in an Error
/// (index_reports.hpp).
std::string index_into(ElementCode& code, int i, const Index& at, std::int64_t dim);

/// Declares a variable and returns its name.
std::string declare(ElementCode& code, std::string_view type, std::string_view start);

}  // namespace saccade::cuda
