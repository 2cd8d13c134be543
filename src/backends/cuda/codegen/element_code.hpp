#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/codegen/index_analysis.hpp"
#include "cuda/driver/kernel_launch.hpp"

namespace saccade::cuda {

/// Kernels index tensors of fewer elements in 32 bits: divisions by constants are twice as fast.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

/// Index of an element: a C++ expression per dimension, in the order of the ONNX shape.
using Index = std::vector<std::string>;

/// Storage and compute type of DTYPE in kernels ("float16", "float"). Throws Error (kUnsupported) for types that
/// kernels do not support.
std::string_view storage_name(DType dtype);
std::string_view compute_name(DType dtype);

/// Values that exist in the same kernel instead of in memory.
class ElementSource {
 public:
  virtual ~ElementSource() = default;
  /// Element AT of a value in its compute type: an expression.
  virtual std::string element(ValueId id, const Index& at) = 0;
  /// Element NUMBER, row-major, of a value.
  virtual std::string element_number(ValueId id, const std::string& number) = 0;
};

/// Generates the body of an element-wise kernel. Variable and buffer names are unique within it. A node's scalar
/// constants become literals, and only inputs that are read become parameters.
class ElementCode {
 public:
  explicit ElementCode(const NodeContext& context) : context_(context), text_(std::make_shared<Text>()) {}
  /// For a node that is inlined into OUTER's kernel and reads SOURCE instead of memory. Both write to the same kernel.
  ElementCode(const ElementCode& outer, const NodeContext& context, ElementSource& source)
      : context_(context), source_(&source), text_(outer.text_) {}

  const NodeContext& context() const { return context_; }
  const Node& node() const { return context_.node; }

  /// Element AT of input I in its compute type: an expression to be used once or twice.
  std::string input(int i, const Index& at);
  /// Element of input I that broadcasts to element AT of the output.
  std::string broadcast(int i, const Index& at);
  /// Element of input I at memory offset OFFSET.
  std::string input_at_offset(int i, const std::string& offset);
  /// A constant table, made at plan time: returns its name as a buffer of TYPE.
  std::string table(std::string_view type, std::vector<std::byte> bytes);
  template <typename T>
  std::string table(std::string_view type, const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return table(type, std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
  /// Where the kernel reports an index out of range of a dimension of DIM (index_reports.hpp): a pointer to int64.
  std::string index_report(std::int64_t dim);
  /// Name of input I as a buffer of its storage type.
  std::string buffer(int i);

  /// Declares a constant of EXPRESSION and returns its name.
  std::string let(std::string_view type, const std::string& expression);
  /// Appends a line to the body.
  void line(const std::string& text) { text_->body += "  " + text + "\n"; }
  /// Opens a scope with HEAD and closes it. Names declared inside are not reused outside.
  void open(const std::string& head);
  void close();
  /// Opens an unrolled loop of COUNT items per thread, up to close(). INDEX runs from FIRST, a multiple of COUNT.
  /// Contiguous reads within it become one vector load.
  void open_unrolled(const std::string& index, const std::string& first, int count);
  /// INDEX is the one that consecutive threads step through.
  void set_lane(const std::string& index) { text_->lane.name = index; }
  /// Estimated memory traffic per element, in bytes of coalesced vector loads.
  double traffic() const { return text_->traffic; }

  /// A unique name.
  std::string fresh(std::string_view stem = "v") { return fmt::format("{}{}", stem, text_->names++); }
  /// The name noted under KEY in this or an enclosing scope; empty if none.
  std::string noted(const std::string& key) const;
  void note(const std::string& key, const std::string& name) { text_->notes.back()[key] = name; }

  /// Applies the node's post-ops to X in float32. Operands are read at OFFSET of the output's memory.
  std::string post_ops(std::string x, const std::string& offset);
  /// The same for element AT of the output, for operands of any layout.
  std::string post_ops(std::string x, const Index& at);

  std::string body() const;
  /// The kernel's parameters before its outputs ("const float* __restrict__ in0, ..."), and the arguments for them.
  std::string parameters() const;
  std::vector<Argument> arguments() const;
  /// Binds the arguments of CALL, a kernel of PROGRAM that writes output OUTPUT: inputs and tables, then the output.
  void bind_arguments(KernelCall& call, int output, NodeProgram& program);

 private:
  /// Text that all inlined nodes of a kernel share.
  struct Text {
    std::string body;
    std::string vectors;  // vectors of the unrolled loop, declared before it
    std::size_t unrolled_begin = 0;
    int unroll = 1;
    InductionVariable item;
    InductionVariable lane;
    double traffic = 0;
    int names = 0;
    std::vector<std::map<std::string, std::string>> notes{1};  // one map per scope
    std::vector<int> reads;                                    // inputs in parameter order
    std::vector<std::vector<std::byte>> tables;
    std::vector<std::string> table_types;
    std::vector<std::int64_t> indexed;
  };

  std::string element_of_vector(int i, const std::string& offset);
  std::string apply_post_ops(std::string x, const std::function<std::string(int operand)>& read);

  NodeContext context_;
  ElementSource* source_ = nullptr;
  std::shared_ptr<Text> text_;
};

/// Memory offset of AT in a tensor of SHAPE, dense in LAYOUT or with STRIDES: an expression.
std::string offset_of(const Index& at, const Shape& shape, Layout layout);
std::string offset_of(const Index& at, const Shape& shape, const Shape& strides);
/// Index of an operand of SHAPE that broadcasts to AT.
Index broadcast_index(const Index& at, const Shape& shape);
/// Number of the operator's own inputs; operands of its post-ops follow.
int own_inputs(const NodeContext& context);
/// The value of a one-element constant as a literal; empty if it is none, or its type has no literals here.
std::string scalar_literal(const Tensor* constant);
/// A CUDA C++ literal: "1.5f", "INFINITY".
std::string literal(float value);
/// An expression in parentheses unless it is one word.
std::string wrapped(const std::string& expression);

/// Declares one variable per dimension: the index of the element at memory offset OFFSET of a tensor of SHAPE in
/// LAYOUT.
Index declare_index(ElementCode& code, const std::string& offset, const Shape& shape, Layout layout);

/// Expression for element AT of output OUTPUT.
using ElementRule = std::function<std::string(ElementCode& code, int output, const Index& at)>;

/// An element-wise kernel for output OUTPUT: one thread per element or, with MANY, several elements per thread where
/// that vectorises.
KernelCall element_kernel(const NodeContext& context, int output, const ElementRule& element, NodeProgram& program,
                          bool many = false);

}  // namespace saccade::cuda
