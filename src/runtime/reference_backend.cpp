#include "runtime/reference_backend.hpp"

#include <algorithm>

#include "ops/interpreter/interpret.hpp"

namespace saccade {
namespace {

class BoundReference : public BoundLaunch {
 public:
  BoundReference(const Op& op, const Node& node, const Bindings& bindings)
      : op_(op),
        node_(node),
        inputs_(bindings.inputs.begin(), bindings.inputs.end()),
        outputs_(bindings.outputs.begin(), bindings.outputs.end()) {}

  void run() override {
    op_.reference(KernelContext(node_, inputs_, outputs_));
    if (!node_.post_ops.empty()) apply_post_ops(node_, outputs_[0], inputs_);
  }

 private:
  const Op& op_;
  const Node& node_;
  std::vector<TensorView> inputs_;
  std::vector<TensorView> outputs_;
};

class ReferenceLaunch : public Launch {
 public:
  ReferenceLaunch(const Op& op, Node node) : op_(op), node_(std::move(node)) {}

  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<BoundReference>(op_, node_, bindings);
  }

 private:
  const Op& op_;
  Node node_;
};

bool row_major(const Graph& graph, ValueId id) {
  return id == ValueId::kNone || graph.value(id).type.shape.rank() < 3 || graph.value(id).layout == Layout::kRowMajor;
}

class Reference : public Tactic {
 public:
  std::string_view name() const override { return "reference"; }
  bool competes() const override { return false; }

  Support supports(const NodeContext& context) const override {
    const Op* op = find_op(context.node.domain, context.node.op);
    if (op == nullptr) return Support::no("the operator is unknown");
    if (op->reference == nullptr) return Support::no("the operator has no reference kernel");
    const auto fits = [&](ValueId id) { return row_major(context.graph, id); };
    if (!std::ranges::all_of(context.node.inputs, fits) || !std::ranges::all_of(context.node.outputs, fits))
      return Support::no("reference kernels read row-major tensors only");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<ReferenceLaunch>(*find_op(context.node.domain, context.node.op), context.node);
  }
};

}  // namespace

const Tactic& reference_tactic() {
  static const Reference tactic;
  return tactic;
}

const Backend& reference_backend() {
  static const ReferenceBackend backend;
  return backend;
}

}  // namespace saccade
