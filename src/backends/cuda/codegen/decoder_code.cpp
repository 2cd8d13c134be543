#include "cuda/codegen/decoder_code.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cuda/codegen/element_code.hpp"

namespace saccade::cuda {
namespace {

constexpr DecoderFamily kFamilies[] = {
    {"DecodeYolov8", "kCenters", 4, true},  {"DecodeYolov5", "kRows", 5, false},
    {"DecodeYolox", "kGrid", 5, false},     {"DecodeEndToEnd", "kEndToEnd", 5, false},
    {"DecodeBoxes", "kSeparate", 0, false}, {"SelectQueries", "kSeparate", 0, false}};

/// Kernel argument for BYTES, uploaded once.
Argument table(std::optional<std::size_t>& index, std::span<const std::byte> bytes, NodeProgram& program) {
  if (bytes.empty()) return {};
  if (!index) {
    index = program.packed.size();
    program.packed.emplace_back(bytes.begin(), bytes.end());
  }
  return {Argument::Kind::kPacked, *index};
}

}  // namespace

const DecoderFamily* find_decoder_family(const Node& node) {
  const auto found = std::ranges::find(kFamilies, node.op, &DecoderFamily::op);
  return node.domain == "saccade" && found != std::end(kFamilies) ? found : nullptr;
}

DecoderCode::DecoderCode(const NodeContext& context) : context_(context), family_(*find_decoder_family(context.node)) {
  const Attributes& attributes = context.node.attributes;
  const Shape& shape = context.input(0).type.shape;
  const bool chosen = family_.name == "kEndToEnd";
  anchors = shape[family_.anchors_last ? 2 : 1];
  capacity = context.output().type.shape[0];
  classes = is_separate() ? context.input(2).type.shape[2] : attributes.integer("classes", 0);
  if (classes == 0) classes = shape[family_.anchors_last ? 1 : 2] - family_.first_class;
  if (chosen) classes = 1;
  multi_label = attributes.integer("multi_label", 0) != 0 && !chosen;
}

KernelCall DecoderCode::kernel(std::string_view name, std::int64_t blocks, std::int64_t threads,
                               const std::string& call, const std::string& more,
                               const std::vector<Argument>& more_arguments, NodeProgram& program) {
  std::string parameters = "const float* __restrict__ predictions";
  KernelCall made{.name = std::string(name)};
  made.arguments = {{Argument::Kind::kInput, 0}};
  const auto add = [&](bool there, std::string_view type, std::string_view variable, Argument argument) {
    if (!there) return std::string("nullptr");
    parameters += fmt::format(", const {}* __restrict__ {}", type, variable);
    made.arguments.push_back(argument);
    return std::string(variable);
  };
  const std::string scores =
      is_separate() ? add(true, "float", "class_scores", {Argument::Kind::kInput, 2}) : "predictions";
  const std::string requested = add(requested_count() > 0, "uint8", "requested", {Argument::Kind::kInput, 1});
  const std::string mapped =
      add(!remap().empty(), "int64", "remap", table(remap_table_, std::as_bytes(remap()), program));
  const std::string limits =
      add(!thresholds().empty(), "float", "thresholds", table(threshold_table_, std::as_bytes(thresholds()), program));
  // At least one block per SM: without the bound, ptxas spills to raise occupancy.
  made.source = fmt::format(
      "#include \"candidates.cuh\"\n{}extern \"C\" __global__ void __launch_bounds__({}, 1) {}({}{}) {{\n"
      "  pdl_wait_and_trigger();\n  const Decoder<Spec> decoder{{predictions, {}, {}, {}, {}}};\n  {}\n}}\n",
      spec(), threads, name, parameters, more, scores, requested, mapped, limits, call);
  made.grid = {.blocks = {static_cast<unsigned>(blocks), 1, 1}, .threads = {static_cast<unsigned>(threads), 1, 1}};
  made.arguments.insert(made.arguments.end(), more_arguments.begin(), more_arguments.end());
  return made;
}

std::int64_t DecoderCode::requested_count() const { return context_.has(1) ? context_.input(1).type.shape[0] : 0; }

std::span<const std::int64_t> DecoderCode::remap() const {
  const auto* values = context_.node.attributes.find<std::vector<std::int64_t>>("remap");
  return values == nullptr ? std::span<const std::int64_t>() : std::span(*values);
}

std::span<const float> DecoderCode::thresholds() const {
  const auto* values = context_.node.attributes.find<std::vector<float>>("threshold");
  return values == nullptr ? std::span<const float>() : std::span(*values);
}

std::string DecoderCode::spec() const {
  const Value& predictions = context_.input(0);
  const Shape strides = dense_strides(predictions.type.shape, predictions.layout);
  const Value& scores = context_.input(is_separate() ? 2 : 0);
  const Shape score_strides = dense_strides(scores.type.shape, scores.layout);
  const int anchor = family_.anchors_last ? 2 : 1;
  const bool oriented = is_separate() && predictions.type.shape[2] == 5;
  std::string text = "struct Spec {\n";
  const auto number = [&](std::string_view name, std::int64_t value) {
    text += fmt::format("  static constexpr int32 {} = {};\n", name, value);
  };
  text += fmt::format("  static constexpr int32 kFamily = {};\n", family_.name);
  number("kAnchors", anchors);
  number("kClasses", classes);
  number("kPairs", pairs());
  number("kWords", (pairs() + 31) / 32);
  number("kCapacity", capacity);
  number("kBox", oriented ? 5 : 4);
  number("kFirstClass", family_.first_class);
  number("kAnchorStride", strides[anchor]);
  number("kFieldStride", strides[3 - anchor]);
  number("kScoreAnchorStride", score_strides[anchor]);
  number("kScoreClassStride", score_strides[3 - anchor]);
  number("kRequested", requested_count());
  number("kMapped", std::ssize(remap()));
  number("kThresholds", std::ssize(thresholds()));
  text += fmt::format("  static __device__ float conf() {{ return {}; }}\n",
                      literal(context_.node.attributes.real("conf", 0.25F)));
  return text + (family_.name == "kGrid" ? cell() : "") + "};\n";
}

/// Maps an anchor to its grid cell: strides in order, row-major within each.
std::string DecoderCode::cell() const {
  const Attributes& attributes = context_.node.attributes;
  const std::int64_t width = attributes.integer("width", 0);
  const std::int64_t height = attributes.integer("height", 0);
  std::string text = "  static __device__ GridCell cell(int32 anchor) {\n";
  for (std::int64_t stride : attributes.integers("strides")) {
    const std::int64_t columns = width / stride;
    const std::int64_t cells = columns * (height / stride);
    if (cells == 0) continue;
    text += fmt::format("    if (anchor < {0}) return {{anchor % {1}, anchor / {1}, {2}}};\n    anchor -= {0};\n",
                        cells, columns, literal(static_cast<float>(stride)));
  }
  return text + "    return {0, 0, 0.0f};\n  }\n";
}

Argument add_scratch(NodeProgram& program, std::int64_t bytes) {
  const std::size_t at = program.scratch_bytes;
  program.scratch_bytes += (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
  return {Argument::Kind::kScratch, at};
}

}  // namespace saccade::cuda
