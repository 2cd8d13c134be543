#include <cmath>
#include <limits>

#include "cpu/loops/element_program.hpp"
#include "ops/core/op.hpp"
#include "tensor/half.hpp"

// Kernel and attributes of an operator or post-op; post-ops for tactics that can't fuse them.
namespace saccade::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::optional<UnaryOperation> with(std::string_view kernel, float alpha = 0, float beta = 0) {
  const auto kernels = unary_kernels(kernel);
  if (!kernels) return std::nullopt;
  return UnaryOperation{*kernels, alpha, beta};
}

/// The element of a tensor of one.
std::optional<float> scalar(const Tensor& tensor) {
  if (tensor.elements() != 1 || !is_element_type(tensor.dtype())) return std::nullopt;
  if (tensor.dtype() == DType::kBFloat16) return tensor.data<BFloat16>()[0];
  return tensor.data<float>()[0];
}

/// Clip's bounds: constant scalars, or omitted.
std::optional<UnaryOperation> clip(const NodeContext& context) {
  const auto bound = [&](int i, float otherwise) -> std::optional<float> {
    if (!context.has(i)) return otherwise;
    const Tensor* value = context.constant(i);
    return value == nullptr ? std::nullopt : scalar(*value);
  };
  const auto low = bound(1, -kInfinity);
  const auto high = bound(2, kInfinity);
  return low && high ? with("Clip", *low, *high) : std::nullopt;
}

/// x^c; some c have kernels without a logarithm.
std::optional<UnaryOperation> power(const NodeContext& context) {
  const Tensor* exponent = context.constant(1);
  const auto number = exponent == nullptr ? std::nullopt : scalar(*exponent);
  if (!number) return std::nullopt;
  // A one-element exponent of higher rank than the base changes the shape of the output.
  if (context.output().type.shape != context.input(0).type.shape) return std::nullopt;
  const float c = *number;
  if (c == 2.0F) return with("Square");
  if (c == 0.5F) return with("PowerOfHalf");
  if (c == -1.0F) return with("Reciprocal");
  if (c == 3.0F) return with("Cube");
  // The logarithm is not accurate enough for large powers.
  if (!(std::abs(c) <= 4) || c == 0) return std::nullopt;
  const bool whole = std::trunc(c) == c;
  const float sign = std::fmod(c, 2.0F) == 0 ? 1.0F : -1.0F;
  return with("Power", c, whole ? sign : std::numeric_limits<float>::quiet_NaN());
}

class BoundChain : public BoundLaunch {
 public:
  BoundChain(const ElementProgram& chain, std::unique_ptr<BoundLaunch> first, const Bindings& bindings)
      : chain_(chain),
        first_(std::move(first)),
        output_(bindings.outputs[0].data),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()) {}

  void run() override {
    first_->run();
    chain_.run(output_, inputs_.data());
  }

  bool may_lose_nan() const override { return first_->may_lose_nan(); }
  void run_keeping_nan() override {
    first_->run_keeping_nan();
    chain_.run(output_, inputs_.data());
  }

 private:
  const ElementProgram& chain_;
  std::unique_ptr<BoundLaunch> first_;
  void* output_;
  std::vector<TensorView> inputs_;
};

class ChainLaunch : public Launch {
 public:
  ChainLaunch(std::unique_ptr<Launch> first, ElementProgram chain)
      : first_(std::move(first)), chain_(std::move(chain)) {}

  std::size_t scratch_bytes() const override { return first_->scratch_bytes(); }
  std::string detail() const override { return first_->detail(); }
  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundChain>(chain_, first_->bind(bindings), bindings);
  }

 private:
  std::unique_ptr<Launch> first_;
  ElementProgram chain_;
};

}  // namespace

std::optional<UnaryOperation> unary_operation(const PostOp& post) {
  return post.operand < 0 ? with(post.op, post.alpha, post.beta) : std::nullopt;
}

std::optional<UnaryOperation> unary_operation(const NodeContext& context) {
  const Node& node = context.node;
  const Op* op = find_op(node.domain, node.op);
  if (op == nullptr || node.inputs.empty()) return std::nullopt;
  if (node.is("Clip")) return clip(context);
  if (node.is("Pow")) return power(context);
  if (node.is("Gelu")) return with(node.attributes.text("approximate", "none") == "tanh" ? "GeluTanh" : "Gelu");
  if (op->traits.elementwise != Elementwise::kUnary) return std::nullopt;
  return with(node.op, op->expression.a.value(node.attributes), op->expression.b.value(node.attributes));
}

bool append_post_ops(const NodeContext& context, ElementProgram& program, std::string& why) {
  for (const PostOp& post : context.node.post_ops) {
    if (const auto operation = unary_operation(post)) {
      program.unary(operation->kernels, ElementProgram::kOutput, operation->alpha, operation->beta);
      continue;
    }
    const auto kernels = post.operand < 0 ? std::nullopt : binary_kernels(post.op);
    const bool has_kernel = kernels && is_element_type(context.input(post.operand).type.dtype);
    const int operand = has_kernel ? program.operand(view_of(context.input(post.operand)), post.operand) : -1;
    if (operand < 0) {
      why = fmt::format("there is no vector kernel for the post-op {}", post.op);
      return false;
    }
    program.binary(*kernels, ElementProgram::kOutput, operand);
  }
  return true;
}

Support supports_post_ops(const NodeContext& context) {
  if (context.node.post_ops.empty()) return {};
  if (!is_element_type(context.output().type.dtype)) return Support::no("post-ops run on float32 and bfloat16 only");
  ElementProgram program(view_of(context.output()));
  std::string why;
  return append_post_ops(context, program, why) ? Support{} : Support::no(why);
}

std::unique_ptr<Launch> with_post_ops(const NodeContext& context, std::unique_ptr<Launch> launch) {
  if (context.node.post_ops.empty()) return launch;
  ElementProgram program(view_of(context.output()));
  std::string why;
  append_post_ops(context, program, why);
  program.finish();
  return std::make_unique<ChainLaunch>(std::move(launch), std::move(program));
}

}  // namespace saccade::cpu
