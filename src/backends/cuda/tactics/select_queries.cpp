#include <fmt/format.h>

#include <algorithm>

#include "cuda/codegen/decoder_code.hpp"
#include "cuda/codegen/element_code.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/tactics/tactics.hpp"

// saccade.SelectQueries, bit-identical to the reference (kernels/queries.cuh): one warp scores each query, then one
// block compacts the objects.
namespace saccade::cuda {
namespace {

constexpr std::int64_t kScoreThreads = 256;
// If the objects exceed the capacity, one block ranks them in quadratic time.
constexpr std::int64_t kMaxQueries = 8192;

class SelectQueries : public Tactic {
 public:
  explicit SelectQueries(Device& device) : device_(device) {}
  std::string_view name() const override { return "select.queries"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("SelectQueries", "saccade")) return Support::other_operator("not saccade.SelectQueries");
    if (!node.post_ops.empty()) return Support::no("it has post-ops");
    if (node.outputs.size() != 4 || std::ranges::count(node.outputs, ValueId::kNone) > 0)
      return Support::no("an output is left out");
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    const std::int64_t queries = context.input(2).type.shape[1];
    if (queries == 0 || queries > kMaxQueries) return Support::no(fmt::format("{} queries", queries));
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    const Attributes& attributes = context.node.attributes;
    DecoderCode code(context);
    NodeProgram program;
    const Argument scores = add_scratch(program, 4 * code.anchors);
    const Argument classes = add_scratch(program, 4 * code.anchors);
    const Argument faults = add_scratch(program, 4 * code.anchors);
    const Argument geometry{Argument::Kind::kInput, 3};
    const std::string to_frame =
        fmt::format("const ToFrame to_frame{{geometry, {}, {}, {}}};\n  ", attributes.integer("stretch", 0) != 0,
                    literal(static_cast<float>(attributes.integer("width", 0))),
                    literal(static_cast<float>(attributes.integer("height", 0))));
    program.calls.push_back(code.kernel("score", (32 * code.anchors + kScoreThreads - 1) / kScoreThreads, kScoreThreads,
                                        "score_queries(decoder, scores, classes, faults);",
                                        ", float* scores, int32* classes, uint32* faults", {scores, classes, faults},
                                        program));
    program.calls.push_back(code.kernel(
        "keep", 1, kQueryThreads,
        to_frame + "keep_queries(decoder, to_frame, scores, classes, faults, rows, count, queries, fault_bits);",
        ", const float* __restrict__ geometry, const float* __restrict__ scores, "
        "const int32* __restrict__ classes, const uint32* __restrict__ faults, float* rows, int32* count, "
        "int32* queries, int32* fault_bits",
        {geometry,
         scores,
         classes,
         faults,
         {Argument::Kind::kOutput, 0},
         {Argument::Kind::kOutput, 1},
         {Argument::Kind::kOutput, 2},
         {Argument::Kind::kOutput, 3}},
        program));
    for (KernelCall& call : program.calls) call.source = "#include \"queries.cuh\"\n" + call.source;
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> select_queries(Device& device) { return std::make_unique<SelectQueries>(device); }

}  // namespace saccade::cuda
