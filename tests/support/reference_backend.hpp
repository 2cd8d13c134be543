#pragma once

#include <vector>

#include "ops/interpret.hpp"
#include "runtime/tactic.hpp"

namespace saccade::test {

/// Runs a node's reference kernel straight on the execution's memory.
class ReferenceLaunch : public Launch {
 public:
  explicit ReferenceLaunch(Node node) : node_(std::move(node)) {}

  std::unique_ptr<BoundLaunch> bind(const Bindings& bindings) const override {
    return std::make_unique<Bound>(node_, bindings);
  }

 private:
  struct Bound : BoundLaunch {
    Bound(const Node& of, const Bindings& bindings)
        : node(of),
          inputs(bindings.inputs.begin(), bindings.inputs.end()),
          outputs(bindings.outputs.begin(), bindings.outputs.end()) {}
    void run() noexcept override {
      find_op(node.domain, node.op)->reference(KernelContext(node, inputs, outputs));
      apply_post_ops(node, outputs[0], inputs);
    }
    const Node& node;
    std::vector<TensorView> inputs;
    std::vector<TensorView> outputs;
  };

  Node node_;
};

class ReferenceTactic : public Tactic {
 public:
  std::string_view name() const override { return "reference"; }
  Support supports(const NodeContext& context) const override {
    return find_op(context.node.domain, context.node.op) != nullptr ? Support{} : Support::no("unknown operator");
  }
  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return std::make_unique<ReferenceLaunch>(context.node);
  }
};

/// A backend for tests of the runtime: every node by its reference kernel, everything row-major.
class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::span<const Tactic* const> tactics() const override { return tactics_; }
  LayoutRule layout_rule(const NodeContext&) const override { return LayoutRule::kRowMajor; }
  void prepare_thread(int) const override {}
  void release_thread() const override {}
  std::string device_name() const override { return "test"; }

 private:
  ReferenceTactic tactic_;
  std::vector<const Tactic*> tactics_{&tactic_};
};

}  // namespace saccade::test
