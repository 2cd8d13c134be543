#include "cuda/codegen/element_functions.hpp"
#include "cuda/tactics/tactics.hpp"

namespace saccade::cuda {
namespace {

/// Element-wise operators for operands of any layout.
class Elements : public Tactic {
 public:
  explicit Elements(Device& device) : device_(device) {}
  std::string_view name() const override { return "elements"; }

  Support supports(const NodeContext& context) const override {
    if (!find_element_rule(context)) return Support::other_operator("not element-wise");
    return supports_post_ops(context);
  }

  bool supports_strided_operands(const NodeContext& /*context*/) const override { return true; }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    NodeProgram program;
    if (context.output().type.shape.elements() > 0)
      program.calls.push_back(element_kernel(context, 0, find_element_rule(context), program, true));
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> elements(Device& device) { return std::make_unique<Elements>(device); }

}  // namespace saccade::cuda
