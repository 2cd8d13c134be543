#include <fmt/format.h>

#include <algorithm>

#include "cuda/codegen/decoder_code.hpp"
#include "cuda/codegen/element_code.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/vision/candidates.hpp"

// saccade.SelectBoxes of axis-aligned boxes, with greedy NMS or without suppression, bit-identical to the reference
// (kernels/selection.cuh).
namespace saccade::cuda {
namespace {

constexpr std::int64_t kMaxRanked = 1 << 17;  // ranking is quadratic

bool suppresses(const NodeContext& context) {
  return context.node.attributes.text("nms", "greedy") == "greedy" && context.input(0).type.shape[0] > 0;
}

std::int64_t blocks_of(std::int64_t items, std::int64_t a_block) { return (items + a_block - 1) / a_block; }

KernelCall kernel(std::string name, std::array<std::int64_t, 2> blocks, std::int64_t threads,
                  const std::string& parameters, const std::string& body, std::vector<Argument> arguments) {
  KernelCall call{.name = std::move(name)};
  call.source = fmt::format(
      "#include \"selection.cuh\"\nextern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n  "
      "pdl_wait_and_trigger();\n"
      "  {}\n}}\n",
      threads, call.name, parameters, body);
  call.grid = {.blocks = {static_cast<unsigned>(blocks[0]), static_cast<unsigned>(blocks[1]), 1},
               .threads = {static_cast<unsigned>(threads), 1, 1}};
  call.arguments = std::move(arguments);
  return call;
}

Argument input(std::size_t i) { return {Argument::Kind::kInput, i}; }
Argument output(std::size_t i) { return {Argument::Kind::kOutput, i}; }

NodeProgram selection(const NodeContext& context) {
  const Attributes& attributes = context.node.attributes;
  const std::int64_t capacity = context.input(0).type.shape[0];
  const std::int64_t limit = std::min(capacity, kMaxCandidates);
  const std::int64_t most = context.output().type.shape[0];
  const bool agnostic = attributes.integer("agnostic", 0) != 0;
  const std::string suppression = fmt::format("const Suppression<{}, {}> suppression{{boxes, classes, order, {}}};\n  ",
                                              limit, agnostic, literal(attributes.real("iou", 0.7F)));
  const std::string read =
      "const float* __restrict__ boxes, const int32* __restrict__ classes, "
      "const int32* __restrict__ order";
  NodeProgram program;
  if (capacity > 0)
    program.calls.push_back(
        kernel("rank", {blocks_of(capacity, kRanked), 1}, kRankThreads,
               "const float* __restrict__ scores, const int32* __restrict__ count, int32* __restrict__ order, "
               "float* __restrict__ own_scores",
               fmt::format("rank_candidates<{}>(scores, count, order, own_scores);", capacity),
               {input(1), input(4), output(3), output(4)}));
  std::vector<Argument> last = {input(0), input(2), output(3)};
  const bool greedy = suppresses(context);
  if (greedy) {
    const Argument masks = add_scratch(program, blocks_of(limit, kSpan) * kSpan * kSpan / 8);
    last.push_back(masks);
    program.calls.push_back(kernel("overlaps", {blocks_of(limit, 32), kSpan / kOverlapThreads}, kOverlapThreads,
                                   read + ", uint32* masks", suppression + "mark_overlaps(suppression, masks);", last));
    last.push_back(add_scratch(program, 4 * most));
  }
  for (const Argument& argument : {input(1), input(3), input(5), output(0), output(1), output(2)})
    last.push_back(argument);
  program.calls.push_back(kernel(
      "choose", {1, 1}, kWindow,
      read + (greedy ? ", const uint32* __restrict__ masks, int32* chosen" : "") +
          ", const float* __restrict__ scores, const int32* __restrict__ anchors, const float* __restrict__ geometry, "
          "float* rows, int32* count, int32* kept_anchors",
      suppression +
          fmt::format("select<{}, {}>(suppression, {}, scores, anchors, geometry, {{rows, count, kept_anchors}});",
                      limit, most, greedy ? "masks, chosen" : "nullptr, nullptr"),
      last));
  return program;
}

class SelectBoxes : public Tactic {
 public:
  explicit SelectBoxes(Device& device) : device_(device) {}
  std::string_view name() const override { return "select.boxes"; }

  Support supports(const NodeContext& context) const override {
    const Node& node = context.node;
    if (!node.is("SelectBoxes", "saccade")) return Support::other_operator("not saccade.SelectBoxes");
    if (!node.post_ops.empty()) return Support::no("it has post-ops");
    if (std::ranges::count(node.outputs, ValueId::kNone) > 0) return Support::no("an output is left out");
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    const std::string nms = node.attributes.text("nms", "greedy");
    if (nms == "linear" || nms == "gaussian") return Support::no("soft NMS is sequential");
    const Shape& boxes = context.input(0).type.shape;
    if (boxes[1] != 4) return Support::no("oriented boxes: their overlap depends on the math library");
    if (boxes[0] > kMaxRanked) return Support::no(fmt::format("{} candidates are too many to rank", boxes[0]));
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    return make_launch(device_, context, selection(context));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> select_boxes(Device& device) { return std::make_unique<SelectBoxes>(device); }

}  // namespace saccade::cuda
