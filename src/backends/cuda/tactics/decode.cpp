#include <algorithm>

#include "cuda/codegen/decoder_code.hpp"
#include "cuda/codegen/element_tactic.hpp"
#include "cuda/kernels/launch_sizes.hpp"
#include "cuda/tactics/tactics.hpp"
#include "ops/vision/candidates.hpp"

// Decoders of detection models: saccade.DecodeYolov5, DecodeYolov8, DecodeBoxes and DecodeEndToEnd bit-identical to the
// reference; DecodeYolox up to one ulp of the box size, whose exponential comes from the math library. Two or three
// kernels (kernels/candidates.cuh): mark candidates, with multi_label limit them to the capacity, and compact them. The
// count stays on the device.
namespace saccade::cuda {
namespace {

constexpr std::int64_t kMaxPairs = std::int64_t{1} << 30;

bool is_decoder(const Node& node) { return find_decoder_family(node) != nullptr && node.op != "SelectQueries"; }

constexpr std::string_view kOutputParameters =
    ", float* __restrict__ boxes, float* __restrict__ scores, int32* __restrict__ classes, "
    "int32* __restrict__ anchors, int32* __restrict__ count, int32* __restrict__ fault_bits";

std::vector<Argument> with_outputs(std::vector<Argument> arguments) {
  for (std::size_t i = 0; i < 6; ++i) arguments.push_back({Argument::Kind::kOutput, i});
  return arguments;
}

std::int64_t words(const DecoderCode& code) { return (code.pairs() + 31) / 32; }
std::int64_t compact_blocks(const DecoderCode& code) { return (code.pairs() + kCompactThreads - 1) / kCompactThreads; }

void decode_best(DecoderCode& code, NodeProgram& program) {
  const Argument marks = add_scratch(program, 4 * words(code));
  const Argument scores = add_scratch(program, 4 * code.anchors);
  const Argument classes = add_scratch(program, 4 * code.anchors);
  const Argument faults = add_scratch(program, 4 * words(code));
  program.calls.push_back(code.kernel(
      "mark", words(code), kMarkThreads, "mark_anchors(decoder, words, faults, best, chosen);",
      ", uint32* words, uint32* faults, float* best, int32* chosen", {marks, faults, scores, classes}, program));
  // Without __restrict__, so that loads are not sunk below the branches.
  program.calls.push_back(code.kernel(
      "list", compact_blocks(code), kCompactThreads,
      "compact<Spec, false>(decoder, words, nullptr, best, chosen, {boxes, scores, classes, anchors, count});\n"
      "  if (blockIdx.x == 0) combine_faults<Spec, kCompactThreads>(faults, fault_bits);",
      ", const uint32* words, const uint32* faults, const float* best, const int32* chosen" +
          std::string(kOutputParameters),
      with_outputs({marks, faults, scores, classes}), program));
}

void decode_every(DecoderCode& code, NodeProgram& program) {
  const Argument listed = add_scratch(program, 4 * words(code));
  const Argument taken = add_scratch(program, 4 * words(code));
  const Argument starts = add_scratch(program, 4 * (compact_blocks(code) + 1));
  const Argument faults = add_scratch(program, 4 * words(code));
  program.calls.push_back(code.kernel("mark", (code.pairs() + kMarkThreads - 1) / kMarkThreads, kMarkThreads,
                                      "mark_pairs(decoder, listed, taken, faults);",
                                      ", uint32* listed, uint32* taken, uint32* faults", {listed, taken, faults},
                                      program));
  program.calls.push_back(code.kernel(
      "choose", 1, kSelectThreads,
      "select_pairs(decoder, listed, taken);\n  count_taken<Spec>(taken, starts);\n"
      "  combine_faults<Spec, kSelectThreads>(faults, fault_bits);",
      ", const uint32* __restrict__ listed, uint32* taken, int32* starts, const uint32* __restrict__ faults, "
      "int32* __restrict__ fault_bits",
      {listed, taken, starts, faults, {Argument::Kind::kOutput, 5}}, program));
  program.calls.push_back(code.kernel(
      "list", compact_blocks(code), kCompactThreads,
      "compact<Spec, true>(decoder, taken, starts, nullptr, nullptr, {boxes, scores, classes, anchors, count});",
      ", const uint32* __restrict__ taken, const int32* __restrict__ starts" + std::string(kOutputParameters),
      with_outputs({taken, starts}), program));
}

class Decode : public Tactic {
 public:
  explicit Decode(Device& device) : device_(device) {}
  std::string_view name() const override { return "decode"; }

  Support supports(const NodeContext& context) const override {
    if (!is_decoder(context.node)) return Support::other_operator("not a detection decoder");
    if (!context.node.post_ops.empty()) return Support::no("it has post-ops");
    if (std::ranges::count(context.node.outputs, ValueId::kNone) > 0) return Support::no("an output is left out");
    if (Support tensors = supports_tensors(context); !tensors) return tensors;
    const DecoderCode code(context);
    if (code.anchors == 0) return Support::no("there are no anchors");
    if (code.pairs() > kMaxPairs) return Support::no("there are too many anchor-class pairs");
    if (code.capacity < std::min(code.pairs(), kMaxCandidates))
      return Support::no("its capacity is below the number of candidates");
    return {};
  }

  std::unique_ptr<Launch> compile(const NodeContext& context) const override {
    DecoderCode code(context);
    NodeProgram program;
    code.multi_label ? decode_every(code, program) : decode_best(code, program);
    return make_launch(device_, context, std::move(program));
  }

 private:
  Device& device_;
};

}  // namespace

std::unique_ptr<Tactic> decode(Device& device) { return std::make_unique<Decode>(device); }

}  // namespace saccade::cuda
