#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/codegen/index_text.hpp"
#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// A kernel's tensor has fewer elements: it counts them in 32 bits, whose divisions by constants are twice as fast.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

/// An element's place: a C++ expression for its index along each dimension, in the order of the (ONNX) shape.
using Index = std::vector<std::string>;

/// How an element of TYPE lies in memory, and what its arithmetic is done in, as the kernels name them ("float16",
/// "float"). Throws Error (kUnsupported) for types that no kernel reads.
std::string_view storage_name(DType dtype);
std::string_view compute_name(DType dtype);

/// What a node reads that has no memory, since the same kernel works it out: values of a graph, by their elements.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  /// Element AT of the value in the type of its arithmetic: an expression.
  virtual std::string element(ValueId id, const Index& at) = 0;
  /// The same of element NUMBER, row-major.
  virtual std::string element_number(ValueId id, const std::string& number) = 0;
};

/// Writes the body of a kernel that works out elements of a node's output. What it names (variables, buffers) is its
/// own; a node's scalar constants become literals, and only inputs that are read become parameters.
class ElementCode {
 public:
  explicit ElementCode(const NodeContext& context) : context_(context), text_(std::make_shared<Text>()) {}
  /// For a node that OUTER's kernel works out on its way and that reads SOURCE, not memory: what this writes, OUTER
  /// has.
  ElementCode(const ElementCode& outer, const NodeContext& context, ElementSource& source)
      : context_(context), source_(&source), text_(outer.text_) {}

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
  void line(const std::string& text) { text_->body += "  " + text + "\n"; }
  /// Adds HEAD and a brace, and the brace that closes it: what is declared in between is not known behind.
  void open(const std::string& head);
  void close();
  /// From here on to close(), a thread goes COUNT times through what is written. INDEX grows by one each turn, from
  /// FIRST on, a multiple of COUNT: what a thread reads one behind the other it reads at once.
  void open_turns(const std::string& index, const std::string& first, int count);
  /// The neighbouring threads differ in INDEX.
  void set_lane(const std::string& index) { text_->lane.name = index; }
  /// What a thread's reads of one element cost, in bytes that are read one behind the other, many at once.
  double traffic() const { return text_->traffic; }

  /// A name that nothing else has.
  std::string fresh(std::string_view stem = "v") { return fmt::format("{}{}", stem, text_->names++); }
  /// What was noted here, or in the braces around, under KEY; empty: nothing.
  std::string noted(const std::string& key) const;
  void note(const std::string& key, const std::string& name) { text_->notes.back()[key] = name; }

  /// The node's post-ops on X, in float32: operands are read at element number OFFSET of the output's memory.
  std::string post_ops(std::string x, const std::string& offset);
  /// The same where the output's element AT is worked out, wherever the operands lie.
  std::string post_ops(std::string x, const Index& at);

  std::string body() const;
  /// The kernel's parameters before its outputs ("const float* __restrict__ in0, ..."), and what is handed for them.
  std::string parameters() const;
  std::vector<Argument> arguments() const;
  /// Gives CALL, a kernel of PROGRAM that writes output number OUTPUT, what it takes: the arguments, then the output.
  void hand_over(KernelCall& call, int output, NodeProgram& program);

 private:
  /// What all nodes of a kernel write.
  struct Text {
    std::string body;
    std::string runs;  // what the turns read at once, declared before them
    std::size_t turns_begin = 0;
    int turns = 1;
    Followed turn;
    Followed lane;
    double traffic = 0;
    int names = 0;
    std::vector<std::map<std::string, std::string>> notes{1};  // a map a pair of braces
    std::vector<int> reads;                                    // inputs, in the order of their parameters
    std::vector<std::vector<std::byte>> tables;
    std::vector<std::string> table_types;
    std::vector<std::int64_t> indexed;
  };

  std::string element_of_run(int i, const std::string& offset);
  std::string apply_post_ops(std::string x, const std::function<std::string(int operand)>& read);

  NodeContext context_;
  ElementSource* source_ = nullptr;
  std::shared_ptr<Text> text_;
};

/// The number of AT in the memory of a tensor of SHAPE in LAYOUT, or whose elements lie STRIDES apart: an expression.
std::string offset_of(const Index& at, const Shape& shape, Layout layout);
std::string offset_of(const Index& at, const Shape& shape, const Shape& strides);
/// Where AT of an output of RANK dimensions stands in an operand of SHAPE that broadcasts to it.
Index broadcast_index(const Index& at, const Shape& shape);
/// How many inputs the node's operator has: operands of its post-ops stand behind them.
int own_inputs(const NodeContext& context);
/// The only element of a constant, as a literal; empty where it is none, or of a type that has no literals here.
std::string scalar_literal(const Tensor* constant);
/// A number as a literal of the kernels' language: "1.5f", "INFINITY".
std::string literal(float value);
/// An expression in parentheses unless it is one word.
std::string wrapped(const std::string& expression);

/// Declares one variable a dimension that says which element of a tensor of SHAPE in LAYOUT the element number OFFSET
/// of its memory is.
Index declare_index(ElementCode& code, const std::string& offset, const Shape& shape, Layout layout);

/// An element of output number OUTPUT, by its place.
using ElementRule = std::function<std::string(ElementCode& code, int output, const Index& at)>;

/// A kernel in which every thread works out one element of output number OUTPUT, or, where they are MANY and each is
/// little work, some of them.
KernelCall element_kernel(const NodeContext& context, int output, const ElementRule& element, NodeProgram& program,
                          bool many = false);

}  // namespace saccade::cuda
