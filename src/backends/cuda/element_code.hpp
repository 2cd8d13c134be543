#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/kernel_launch.hpp"

namespace saccade::cuda {

/// A kernel's tensor has fewer elements: it counts them in 32 bits, whose divisions by constants are twice as fast.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

/// An element's place: a C++ expression for its index along each dimension, in the order of the (ONNX) shape.
using Index = std::vector<std::string>;

/// How an element of TYPE lies in memory, and what its arithmetic is done in, as the kernels name them ("float16",
/// "float"). Throws Error (kUnsupported) for types that no kernel reads.
std::string_view storage_name(DType dtype);
std::string_view compute_name(DType dtype);

/// Writes the body of a kernel that works out elements of a node's output. What it names (variables, buffers) is its
/// own; a node's scalar constants become literals, and only inputs that are read become parameters.
class ElementCode {
 public:
  explicit ElementCode(const NodeContext& context) : context_(context) {}

  const NodeContext& context() const { return context_; }
  const Node& node() const { return context_.node; }

  /// Element AT of input I in the type of its arithmetic: an expression to be used once or twice.
  std::string input(int i, const Index& at);
  /// The same where input I broadcasts to an output whose element AT is worked out.
  std::string broadcast(int i, const Index& at);
  /// Element number OFFSET of input I as its memory has it.
  std::string input_at_offset(int i, const std::string& offset);
  /// A table that the kernel reads, made when the plan is: its name as a buffer of TYPE.
  std::string table(std::string_view type, std::vector<std::byte> bytes);
  template <typename T>
  std::string table(std::string_view type, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return table(type, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  /// Where the kernel leaves an index that is outside of a dimension of DIM, for the host to throw: a pointer to int64.
  std::string fault(std::int64_t dim);
  /// The name of input I as a buffer of its storage type.
  std::string buffer(int i);

  /// Declares a constant of EXPRESSION and gives its name.
  std::string let(std::string_view type, const std::string& expression);
  /// Adds a line to the body as it stands.
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  /// A name that nothing else has.
  std::string fresh(std::string_view stem = "v") { return fmt::format("{}{}", stem, names_++); }

  /// The node's post-ops on X, in float32: operands are read at element number OFFSET of the output's memory.
  std::string post_ops(std::string x, const std::string& offset);
  /// The same where the output's element AT is worked out, wherever the operands lie.
  std::string post_ops(std::string x, const Index& at);

  const std::string& body() const { return body_; }
  /// The kernel's parameters before its outputs ("const float* __restrict__ in0, ..."), and what is handed for them.
  std::string parameters() const;
  std::vector<Argument> arguments() const;
  /// Gives CALL, a kernel of PROGRAM that writes output number OUTPUT, what it takes: the arguments, then the output.
  void hand_over(KernelCall& call, int output, NodeProgram& program);

 private:
  using OperandRule = std::function<std::string(int operand)>;
  std::string post_ops(std::string x, const OperandRule& operand);

  NodeContext context_;
  std::string body_;
  int names_ = 0;
  std::vector<int> reads_;  // inputs, in the order of their parameters
  std::vector<std::vector<std::byte>> tables_;
  std::vector<std::string> table_types_;
  std::vector<std::int64_t> indexed_;
};

/// The number of AT in the memory of a tensor of SHAPE in LAYOUT, or whose elements lie STRIDES apart: an expression.
std::string offset_of(const Index& at, const Shape& shape, Layout layout);
std::string offset_of(const Index& at, const Shape& shape, const Shape& strides);
/// Where AT of an output of RANK dimensions stands in an operand of SHAPE that broadcasts to it.
Index broadcast_index(const Index& at, const Shape& shape);
/// How many inputs the node's operator has: operands of its post-ops stand behind them.
int own_inputs(const NodeContext& context);
/// A number as a literal of the kernels' language: "1.5f", "INFINITY".
std::string literal(float value);
/// An expression in parentheses unless it is one word.
std::string wrapped(const std::string& expression);

/// Declares one variable a dimension that says which element of a tensor of SHAPE in LAYOUT the element number OFFSET
/// of its memory is.
Index declare_index(ElementCode& code, const std::string& offset, const Shape& shape, Layout layout);

/// A kernel in which every thread works out one element of output number OUTPUT: ELEMENT gives it, by its place.
using ElementRule = std::function<std::string(ElementCode& code, int output, const Index& at)>;
KernelCall element_kernel(const NodeContext& context, int output, const ElementRule& element, NodeProgram& program);

}  // namespace saccade::cuda
