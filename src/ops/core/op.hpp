#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "graph/graph.hpp"
#include "ops/core/expression.hpp"
#include "ops/core/traits.hpp"

namespace saccade {

/// The arguments of a shape rule: one node, its inputs' types, and the contents of inputs that are known.
class InferContext {
 public:
  /// KNOWN(i) returns input i's contents, or null if they depend on the graph's inputs. AFFORD(steps) says whether so
  /// many steps may be computed.
  InferContext(const Node& node, std::vector<const TensorType*> inputs, std::function<const Tensor*(int)> known,
               std::function<bool(double)> afford)
      : node_(node),
        inputs_(std::move(inputs)),
        known_(std::move(known)),
        afford_(std::move(afford)),
        outputs_(node.outputs.size()),
        is_set_(node.outputs.size()) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  /// For kernels that write all their outputs: throws Error (kInvalidFile) unless the node has exactly COUNT outputs,
  /// none omitted.
  void require_outputs(std::size_t count) const;
  bool has(int i) const { return i < input_count() && inputs_[static_cast<std::size_t>(i)] != nullptr; }
  /// Throws Error (kInvalidFile) if the input is omitted.
  const TensorType& input(int i) const;
  const Shape& shape(int i) const { return input(i).shape; }
  DType dtype(int i) const { return input(i).dtype; }

  /// The contents, or null if they are not known or the input is omitted.
  const Tensor* known(int i) const { return has(i) ? known_(i) : nullptr; }
  /// The contents as integers (of an int32 or int64 tensor). Throws Error (kUnsupported) naming WHAT if they depend on
  /// the graph's inputs.
  std::vector<std::int64_t> integers(int i, std::string_view what) const;

  /// Whether a rule may take so many steps to compute a shape, in addition to everything computed for the graph so far.
  bool afford(double steps) const { return afford_(steps); }

  /// Sets output I's type; does nothing if the node does not have that many outputs.
  void output(int i, DType dtype, const Shape& shape);
  const std::vector<TensorType>& outputs() const { return outputs_; }
  /// Whether the rule set output I: a node may have more outputs than its operator.
  bool is_set(std::size_t i) const { return is_set_[i]; }

  /// Normalizes an axis to 0..rank-1. Throws Error (kInvalidFile) outside -rank..rank-1.
  static int axis(std::int64_t axis, int rank);

 private:
  const Node& node_;
  std::vector<const TensorType*> inputs_;
  std::function<const Tensor*(int)> known_;
  std::function<bool(double)> afford_;
  std::vector<TensorType> outputs_;
  std::vector<bool> is_set_;
};

/// The arguments of a reference kernel: one node and its tensors, dense and row-major, with inferred types and shapes.
/// May be called on any thread; must not keep the views.
class KernelContext {
 public:
  KernelContext(const Node& node, std::span<const TensorView> inputs, std::span<const TensorView> outputs)
      : node_(node), inputs_(inputs), outputs_(outputs) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has(int i) const { return i < input_count() && inputs_[static_cast<std::size_t>(i)].data != nullptr; }
  /// An output is null if it is not requested.
  bool wants(int i) const { return i < output_count() && outputs_[static_cast<std::size_t>(i)].data != nullptr; }
  const TensorView& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const TensorView& output(int i = 0) const { return outputs_[static_cast<std::size_t>(i)]; }
  template <typename T>
  std::span<const T> in(int i) const {
    return input(i).as<const T>();
  }
  template <typename T>
  std::span<T> out(int i = 0) const {
    return output(i).as<T>();
  }

 private:
  const Node& node_;
  std::span<const TensorView> inputs_;
  std::span<const TensorView> outputs_;
};

/// One operator: its name, shape rule, reference kernel, traits and expression. Each file in this folder defines one
/// (or a family), and the table lists it; see CONTRIBUTING.
struct Op {
  std::string_view domain;  ///< "" for ONNX, "com.microsoft", "saccade"
  std::string_view name;
  /// Checks types and attributes and sets every output's type. Throws Error with the reason if they are invalid or
  /// unsupported.
  void (*infer)(InferContext&);
  /// Simple, slow, correct: the test oracle, the constant folder and the fallback of every backend.
  void (*reference)(const KernelContext&);
  OpTraits traits = {};
  /// Of an element-wise operator.
  Expression expression = {};
};

/// The operator, or null. DOMAIN "ai.onnx" means "".
const Op* find_op(std::string_view domain, std::string_view name);
/// The post-op's operator, or null.
const Op* find_op(const PostOp& post);
/// The traits of the node's operator; of an unknown one the default, which declares nothing.
const OpTraits& traits_of(const Node& node);
/// Whether input I has the type that the node computes in, as operands of post-ops have. Coordinates, scales, sizes and
/// masks (whose lowest value fp16 can't represent) do not.
bool is_float_operand(const Node& node, std::size_t i);
/// Throws Error (kInvalidFile) if the node's number of inputs violates the arity.
void check_arity(const Node& node, const Arity& arity);
/// All operators that Saccade knows, by domain and name.
std::vector<const Op*> all_ops();

}  // namespace saccade
