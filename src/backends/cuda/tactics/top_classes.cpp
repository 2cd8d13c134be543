#include <fmt/format.h>

#include <limits>

#include "cuda/codegen/element_code.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/tactics/tactics.hpp"

// saccade.TopClasses (kernels/top_classes.cuh). Scores are bit-identical to the reference; probabilities differ in rare
// cases by one ulp, since float64 sums are ordered differently.
namespace saccade::cuda {
namespace {

constexpr std::int64_t kMaxRows = 256;  // one scan of all scores per row

class TopClasses : public Tactic {
 public:
  explicit TopClasses(Device& device) : device_(device) {}
  std::string_view name() const override { return "top.classes"; }

  Support supports(const NodeContext& context) const override {
    if (!context.node.is("TopClasses", "saccade")) return Support::other_operator("not saccade.TopClasses");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    const Value& scores = context.input(0);
    if (!lies_alike(scores.type.shape, Layout::kRowMajor, scores.type.shape, scores.layout))
      return Support::no("its scores are channels-last");
    if (context.output().type.shape[0] > kMaxRows)
      return Support::no(fmt::format("{} classes are too many", context.output().type.shape[0]));
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Attributes& attributes = context.node.attributes;
    KernelCall call{.name = "classes"};
    call.source = fmt::format(
        "#include \"top_classes.cuh\"\nextern \"C\" __global__ void __launch_bounds__({}) classes(const float* "
        "__restrict__ scores, float* __restrict__ rows, int32* __restrict__ fault_bits) {{\n  pdl_wait_and_trigger();\n"
        "  top_classes<{}, {}, {}>(scores, {}, rows, fault_bits);\n}}\n",
        kClassThreads, context.input(0).type.shape.elements(), context.output().type.shape[0],
        attributes.integer("softmax", 0) != 0,
        literal(attributes.real("conf", -std::numeric_limits<float>::infinity())));
    call.grid = {.threads = {kClassThreads, 1, 1}};
    call.arguments = {{Argument::Kind::kInput, 0}, {Argument::Kind::kOutput, 0}, {Argument::Kind::kOutput, 1}};
    NodeProgram program;
    program.calls.push_back(std::move(call));
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> top_classes(Device& device) { return std::make_unique<TopClasses>(device); }

}  // namespace saccade::cuda
