#include <optional>

#include "cuda/codegen/move_code.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/core/op.hpp"
#include "runtime/storage_aliasing.hpp"

// Data-movement operators (codegen/move_code.hpp), one thread per element or several.
namespace saccade::cuda {
namespace {

/// Storage of output OUTPUT if it is a slice or view of input 0; nullopt otherwise.
std::optional<StorageView> storage_in_input(const NodeContext& context, std::size_t output) {
  if (context.node.is("Concat")) return {};
  const std::vector<StorageAlias> aliases = storage_aliases(context.graph, context.node);
  if (output >= aliases.size()) return {};
  return aliases[output].storage_of_part(context.graph, context.input_storage(0));
}

class Moves : public Tactic {
 public:
  explicit Moves(Device& device) : device_(device) {}
  std::string_view name() const override { return "moves"; }

  Support supports(const NodeContext& context) const override { return supports_move(context); }

  bool supports_strided_operands(const NodeContext& /*context*/) const override { return true; }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    NodeProgram program;
    if (storage_in_input(context, 0)) {
      copy_parts(context, program);
    } else {
      copy_by_rule(context, program);
    }
    return make_launch(device_, context, std::move(program));
  }

 private:
  /// Copies outputs that are strided slices of the input, unless they alias it.
  static void copy_parts(const NodeContext& context, NodeProgram& program) {
    for (std::size_t i = 0; i < context.node.outputs.size(); ++i) {
      const int output = static_cast<int>(i);
      const Shape& shape = context.output(output).type.shape;
      const StorageView from = *storage_in_input(context, i);
      if (shape.elements() == 0 || same_storage(from, context.output_storage(output), shape)) continue;
      const std::int64_t first = from.offset - context.input_storage(0).offset;
      const auto element = [&](ElementCode& code, int /*output*/, const Index& at) {
        return code.input_at_offset(0, fmt::format("{} + {}", offset_of(at, shape, from.strides), first));
      };
      program.calls.push_back(element_kernel(context, output, element, program, true));
    }
  }

  static void copy_by_rule(const NodeContext& context, NodeProgram& program) {
    const ElementRule rule = find_move_rule(context);
    for (std::size_t i = 0; i < context.node.outputs.size(); ++i) {
      const ValueId id = context.node.outputs[i];
      if (id != ValueId::kNone && context.graph.value(id).type.shape.elements() > 0)
        program.calls.push_back(
            element_kernel(context, static_cast<int>(i), rule, program, has_affine_origin(context)));
    }
  }

  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> moves(Device& device) { return std::make_unique<Moves>(device); }

}  // namespace saccade::cuda
